import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { Guard, MicroloopError } from '../microloop/index.js';
import { CATS, LOOPS, search } from './common.js';

const fails = (action, code) =>
  assert.throws(action, (error) => error instanceof MicroloopError && error.code === code && error.message !== '');

test('a bad policy is refused with the reason', () => {
  fails(() => new Guard(''), 'MICROLOOP_NOT_JSON');
  fails(() => new Guard('{"version": 1'), 'MICROLOOP_NOT_JSON');
  fails(() => new Guard({ version: 1, lops: {} }), 'MICROLOOP_INVALID_POLICY');
  assert.throws(() => new Guard({ version: 1, lops: {} }), /lops/);
});

test('a bad tool is refused', (t) => {
  const { guard } = search(t);
  fails(() => guard.tool(''), 'MICROLOOP_INVALID_ARGUMENT');
  fails(() => guard.tool('search', { type: 'objekt' }), 'MICROLOOP_INVALID_SCHEMA');
});

test('a closed session answers nothing', (t) => {
  const { session, tool } = search(t);
  const verdict = session.check(tool, CATS);
  session[Symbol.dispose]();
  fails(() => session.check(tool, CATS), 'MICROLOOP_STALE_HANDLE');
  fails(() => session.record(verdict, 'late'), 'MICROLOOP_STALE_HANDLE');
  fails(() => session.state(), 'MICROLOOP_STALE_HANDLE');
  fails(() => session.close(), 'MICROLOOP_STALE_HANDLE');
});

test('a session outlives its policy, and a closed policy begins none', () => {
  const guard = new Guard(LOOPS);
  const tool = guard.tool('search');
  const session = guard.session();
  guard[Symbol.dispose]();
  assert.equal(session.check(tool, CATS).action, 'allow');
  fails(() => guard.session(), 'MICROLOOP_STALE_HANDLE');
  fails(() => guard.tool('other'), 'MICROLOOP_STALE_HANDLE');
});

test('a step ends once', (t) => {
  const { session, tool } = search(t);
  const verdict = session.check(tool, CATS);
  session.record(verdict, 'none');
  fails(() => session.record(verdict, 'none'), 'MICROLOOP_UNKNOWN_STEP');
  fails(() => session.cancel(verdict), 'MICROLOOP_UNKNOWN_STEP');
});

test('a value of the wrong type is a TypeError and nothing worse', (t) => {
  const { session, tool } = search(t);
  assert.throws(() => session.check(tool, undefined), TypeError);
  assert.throws(() => session.check({ index: 'search' }, CATS), TypeError);
  assert.throws(() => session.check({}, CATS), TypeError);
  assert.throws(() => session.check(tool, CATS, { callId: 7 }), TypeError);
  for (const tokens of [-1, 0.5, NaN, 2 ** 53]) assert.throws(() => session.spend({ tokens }), RangeError);
  assert.equal(session.state().steps, 0);
  assert.equal(session.state().tokens, 0);
});

test('the codes are the names of the header', () => {
  const header = readFileSync(new URL('../../../libmicroloop/capi/include/microloop.h', import.meta.url), 'utf8');
  const source = readFileSync(new URL('../microloop/native.js', import.meta.url), 'utf8');
  const codes = source.slice(source.indexOf('STATUSES = ['), source.indexOf('];')).match(/(?<=')\w+(?=')/g);
  const statuses = [...header.matchAll(/^#define MICROLOOP_(\w+) (-\d+)$/gm)];
  assert.deepEqual(statuses.map(([, name, number]) => [name, Number(number)]),
    codes.slice(1).map((name, n) => [name, -(n + 1)]));
});
