import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { SHARED } from './common.js';

const PROGRAM = fileURLToPath(new URL('../guard_a_loop.js', import.meta.url));
const run = (...args) => spawnSync(process.execPath, [PROGRAM, ...args], { encoding: 'utf8' });

test('a stuck agent is advised, then refused, then halted', () => {
  const { stdout, status } = run(fileURLToPath(new URL('policies/balanced.json', SHARED)));
  const actions = [...stdout.matchAll(/^step \d+: (\w+)$/gm)].map(([, action]) => action);
  assert.equal(actions.join(' '), 'block allow allow warn warn block block block halt');
  assert.match(stdout, /the argument "sql" is missing/);
  assert.equal(status, 0);
});

test('without a policy it says how to call it', () => {
  const { stderr, status } = run();
  assert.match(stderr, /^usage: node guard_a_loop\.js policy\.json/);
  assert.equal(status, 2);
});
