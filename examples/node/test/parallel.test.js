import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

import { Guard } from '../microloop/index.js';
import { CATS, LOOPS } from './common.js';

const WORKER = new URL('./worker.js', import.meta.url);

/** What a worker answers to a job. */
async function answer(job) {
  const worker = new Worker(WORKER, { workerData: job });
  const [[message]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')]);
  return message;
}

test('tasks that take turns share one session', async () => {
  const guard = new Guard({ version: 1 });
  const tool = guard.tool('search');
  const session = guard.session();
  const agent = async (by) => {
    const steps = [];
    for (let n = 0; n < 50; n += 1) {
      const verdict = session.check(tool, { by, n });
      await turnOfTheLoop();
      session.record(verdict, 'ok');
      steps.push(verdict.step);
    }
    return steps;
  };
  const steps = (await Promise.all([1, 2, 3, 4].map(agent))).flat();
  assert.equal(new Set(steps).size, 200);
  assert.equal(session.state().steps, 200);
});

test('workers do not disturb each other', async () => {
  const jobs = [1, 2, 3, 4].map((number) => ({ policy: LOOPS, args: CATS, rounds: 50, number }));
  for (const { actions, message, number } of await Promise.all(jobs.map(answer))) {
    assert.deepEqual(actions, Array(50).fill('allow warn block halt'));
    assert.match(message, new RegExp(`key_${number}_`)); // the last failure is of this thread
  }
});

test('a session that a worker leaves open is freed when the worker ends', async () => {
  const { handle } = await answer({ policy: LOOPS, args: CATS, rounds: 0, number: 0 });
  const parent = { handle };
  assert.throws(() => new Guard(LOOPS).session({ parent }), { code: 'MICROLOOP_STALE_HANDLE' });
});
