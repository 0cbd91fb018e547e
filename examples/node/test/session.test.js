import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Guard } from '../microloop/index.js';
import { CATS, search } from './common.js';

test('a loop is advised, then refused, then halted', (t) => {
  const { session, tool } = search(t);
  ['allow', 'warn', 'block', 'halt'].forEach((action, n) => {
    const verdict = session.check(tool, CATS);
    assert.equal(verdict.action, action);
    assert.equal(verdict.step, n + 1);
    if (verdict.allowed) session.record(verdict, 'nothing found');
  });
  assert.equal(session.state().halted, 'loop.repeat');
});

test('a verdict says what was counted and what to tell the model', (t) => {
  const { session, tool } = search(t);
  session.record(session.check(tool, CATS), 'none');
  session.record(session.check(tool, { query: 'cats' }), 'none');
  const { feedback, ...verdict } = session.check(tool, '{"query":"c\\u0061ts"}');
  assert.match(feedback, /search was refused/);
  assert.deepEqual(verdict, {
    step: 3, tool: 'search', action: 'block', would: null, reason: 'loop.repeat', rule: 'loops.repeat', limit: 3, seen: 3,
    evidence: [1, 2],
  });
});

test('arguments against the schema are refused, and are no errors', (t) => {
  const { session, tool } = search(t);
  assert.equal(session.check(tool, {}).reason, 'args.schema');
  assert.equal(session.check(tool, { query: 7 }).reason, 'args.schema');
  assert.equal(session.check(tool, '').reason, 'args.malformed');
  assert.equal(session.state().refusals, 3);
});

test('a tool that nobody declared is checked by its name', (t) => {
  const { session } = search(t);
  for (const action of ['allow', 'warn', 'block']) {
    const verdict = session.check({ name: 'search' }, {});
    assert.equal(verdict.action, action);
    assert.equal(verdict.tool, 'search');
    if (verdict.allowed) session.record(verdict, 'nothing found');
  }
  assert.throws(() => session.check({ name: '' }, {}), { code: 'MICROLOOP_INVALID_ARGUMENT' });
});

test('a cancelled call is forgotten', (t) => {
  const { session, tool } = search(t);
  for (let n = 0; n < 5; n += 1) {
    const verdict = session.check(tool, CATS);
    assert.equal(verdict.action, 'allow');
    session.cancel(verdict);
  }
});

test('the same call id is the same step, and twins in a batch are told', (t) => {
  const { session, tool } = search(t);
  const first = session.check(tool, CATS, { callId: 'a', batch: 'turn 1' });
  assert.equal(session.check(tool, CATS, { callId: 'a', batch: 'turn 1' }).step, first.step);
  assert.equal(session.check(tool, CATS, { callId: 'b', batch: 'turn 1' }).reason, 'call.duplicate');
});

test('a user turn starts anew, and repeated speech is noticed', () => {
  const guard = new Guard({ version: 1, loops: { scope: 'turn', repeat: { warn: 2 }, text: { warn: 2 } } });
  const session = guard.session();
  const tool = guard.tool('search');
  for (let n = 0; n < 3; n += 1) {
    const verdict = session.check(tool, CATS);
    assert.equal(verdict.action, 'allow');
    session.record(verdict, { found: 0 });
    session.userTurn();
  }
  assert.equal(session.assistantTurn('I will look into it.').action, 'allow');
  assert.equal(session.assistantTurn('I will look into it.').action, 'warn');
});

test('a child is charged to its parent', () => {
  const guard = new Guard({ version: 1, budgets: { calls: 1 } });
  const tool = guard.tool('search');
  const parent = guard.session();
  const child = guard.session({ parent });
  child.record(child.check(tool, CATS), 'ok');
  assert.equal(parent.check(tool, {}).action, 'halt');
});

test('spending is counted, and halts at its end', () => {
  const session = new Guard({ version: 1, budgets: { usd: 0.5 } }).session();
  assert.equal(session.spend({ tokens: 1200, usd: 0.25 }).action, 'allow');
  assert.equal(session.spend({ usd: 0.25 }).reason, 'budget.usd');
  const { tokens, usd, halted } = session.state();
  assert.deepEqual({ tokens, usd, halted }, { tokens: 1200, usd: 0.5, halted: 'budget.usd' });
});

test('errors of a tool are told from its results', () => {
  const guard = new Guard({ version: 1, loops: { error: { warn: 2 } } });
  const tool = guard.tool('search');
  const session = guard.session();
  session.recordError(session.check(tool, { query: 'a' }), new TypeError('no such table'));
  session.recordError(session.check(tool, { query: 'b' }), 'TypeError: no such table');
  assert.equal(session.check(tool, { query: 'c' }).reason, 'loop.error');
});

test('a text that is longer than the first buffer is whole', () => {
  const role = 'rôle '.repeat(2000);
  assert.equal(new Guard({ version: 1 }).session({ role }).state().role, role);
});
