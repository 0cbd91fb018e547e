import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { Guard } from '../microloop/index.js';
import { LOOPS } from './common.js';

setFlagsFromString('--expose-gc');
const ENOUGH_ROUNDS = 1000;
const collect = runInNewContext('gc');

test('a session that is forgotten is freed by the collector', async () => {
  const guard = new Guard(LOOPS);
  const { handle } = guard.session();
  const isOpen = () => {
    try {
      guard.session({ parent: { handle } }).close();
      return true;
    } catch (error) {
      assert.equal(error.code, 'MICROLOOP_STALE_HANDLE');
      return false;
    }
  };
  assert.ok(isOpen());
  for (let n = 0; n < ENOUGH_ROUNDS && isOpen(); n += 1) {
    collect();
    await turnOfTheLoop();
  }
  assert.equal(isOpen(), false);
});
