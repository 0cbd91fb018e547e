/**
 * A guarded agent: a policy from a file, a tool, and a model that cannot let go of one query.
 *
 *     node guard_a_loop.js policy.json
 *
 * The policy is JSON; `microloop policy show balanced --json` makes it of a named one.
 */
import { readFileSync } from 'node:fs';

import { Guard } from './microloop/index.js';

const SCHEMA = { type: 'object', required: ['sql'], properties: { sql: { type: 'string' } } };
const WRONG = '{"query": "select * from costumers"}'; // against the schema
const STUCK = '{"sql": "select * from costumers"}';

/** The tool itself: a database that has no such table, whoever asks. */
function queryDatabase() {
  throw new Error('no such table: costumers');
}

/** One call of the agent: judged before it runs, reported after it has run. Returns whether the agent may go on. */
function call(session, tool, args) {
  const verdict = session.check(tool, args);
  console.log(`step ${verdict.step}: ${verdict.action}`);
  if (verdict.feedback) console.log(`  ${verdict.feedback}`); // for the model, in place of the result or beside it
  if (!verdict.allowed) return verdict.action !== 'halt';
  try {
    session.record(verdict, queryDatabase(args));
  } catch (error) {
    session.recordError(verdict, error);
  }
  return true;
}

function agent(session, tool) {
  let going = call(session, tool, WRONG);
  for (let n = 0; n < 8 && going; n += 1) going = call(session, tool, STUCK);
}

if (process.argv.length !== 3) {
  console.error('usage: node guard_a_loop.js policy.json');
  process.exit(2);
}
const guard = new Guard(readFileSync(process.argv[2], 'utf8'));
const tool = guard.tool('query_database', SCHEMA);
const session = guard.session();
agent(session, tool);
session.close();
guard.close();
