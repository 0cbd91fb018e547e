import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const HOW_TO = new URL('../../../docs/how-to/use-from-go-and-node.md', import.meta.url);
const PROGRAM = fileURLToPath(new URL('../build/first.js', import.meta.url));

test('the program of the how-to page prints what the page shows', () => {
  const page = readFileSync(HOW_TO, 'utf8');
  const [, program] = page.match(/^```js title="first\.js"\n(.*?)^```$/ms);
  const [, shown] = page.match(/^\$ go run first\.go\n(.*?)^```$/ms); // the page says that both print the same
  writeFileSync(PROGRAM, program);
  const { stdout, stderr } = spawnSync(process.execPath, [PROGRAM], { encoding: 'utf8' });
  assert.equal(stderr, '');
  assert.equal(stdout, shown);
});
