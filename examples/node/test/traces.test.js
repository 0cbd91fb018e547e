import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';

import { Guard } from '../microloop/index.js';
import { SHARED, readJson } from './common.js';

const STOPS = ['block', 'halt'];
const NOTICES = ['warn', 'ask', ...STOPS];

/** The runs and what the guard must say about them; tests/traces/README.md says what their keys mean. */
const traces = readdirSync(new URL('traces/', SHARED))
  .filter((file) => file.endsWith('.json'))
  .flatMap((file) => readJson(new URL(`traces/${file}`, SHARED)).map((trace) => ({ ...trace, file })));

test('more than 100 traces are found', () => assert.ok(traces.length > 100));

for (const trace of traces) {
  test(`${trace.file}: ${trace.name}`, () => {
    const { verdicts, statuses } = play(trace);
    trace.steps.forEach(({ status }, n) => assert.equal(statuses[n], status ?? statuses[n], `step ${n + 1}`));
    trace.steps.forEach((step, n) => expectStep(step, n, verdicts[n]));
    const told = verdicts.filter(Boolean).map(({ action }) => action);
    const calls = verdicts.filter((_, n) => 'tool' in trace.steps[n]).map(({ action }) => action);
    inTime('noticed', trace.noticed_by, calls, NOTICES);
    inTime('stopped', trace.stopped_by, calls, STOPS);
    const forbidden = { stop: STOPS, notice: NOTICES }[trace.never] ?? [];
    assert.deepEqual(told.filter((action) => forbidden.includes(action)), []);
  });
}

/** The verdict on each step, undefined for a user turn; and where the run stands after it. */
function play(trace) {
  const guard = new Guard(readJson(new URL(`policies/${trace.policy.name ?? trace.policy}.json`, SHARED)));
  const session = guard.session({ role: trace.role });
  session.setTime(0);
  const statuses = [];
  const verdicts = trace.steps.map((step) => {
    const verdict = playStep(guard, session, step, trace.tools ?? {});
    statuses.push(session.progress().status);
    return verdict;
  });
  session.close();
  guard.close();
  return { verdicts, statuses };
}

function playStep(guard, session, step, tools) {
  if ('at' in step) session.setTime(step.at);
  if ('user' in step) return session.userTurn();
  if ('assistant' in step) return session.assistantTurn(step.assistant);
  if ('spend' in step) return session.spend(step.spend);
  const before = session.state().steps;
  const tool = guard.tool(step.tool, tools[step.tool]?.schema);
  const verdict = session.check(tool, step.args, { callId: step.call_id, batch: step.batch });
  // A call id that was seen before is answered with the earlier step, whose outcome is known.
  if (!STOPS.includes(verdict.action) && verdict.step > before) {
    if ('error' in step) session.recordError(verdict, step.error);
    else session.record(verdict, step.result);
  }
  return verdict;
}

function expectStep({ expect = [], reason }, n, verdict) {
  const actions = [expect].flat();
  const seen = verdict && `step ${n + 1}: ${verdict.action} (${verdict.reason})`;
  assert.ok(actions.length === 0 || actions.includes(verdict.action), `${seen}, expected ${actions}`);
  assert.ok(reason === undefined || reason === verdict.reason, `${seen}, expected ${reason}`);
}

function inTime(what, by, calls, actions) {
  const first = calls.findIndex((action) => actions.includes(action)) + 1;
  assert.ok(by === undefined || (first > 0 && first <= by), `to be ${what} by call ${by}, seen at call ${first}`);
}
