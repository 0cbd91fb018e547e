/** The work of a thread in parallel.test.js: rounds of a loop, a failure of its own, and a session that stays open. */
import { parentPort, workerData } from 'node:worker_threads';

import { Guard } from '../microloop/index.js';

const { policy, args, rounds, number } = workerData;
const guard = new Guard(policy);
const tool = guard.tool('search');

function round() {
  const session = guard.session();
  const actions = [];
  while (actions.at(-1) !== 'halt') {
    const verdict = session.check(tool, args);
    if (verdict.allowed) session.record(verdict, 'none');
    actions.push(verdict.action);
  }
  session.close();
  return actions.join(' ');
}

function failure() {
  try {
    return new Guard({ version: 1, [`key_${number}_`]: 1 });
  } catch (error) {
    return error.message;
  }
}

const actions = Array.from({ length: rounds }, round);
parentPort.postMessage({ actions, message: failure(), number, handle: guard.session().handle });
