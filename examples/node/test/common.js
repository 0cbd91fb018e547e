import { readFileSync } from 'node:fs';

import { Guard } from '../microloop/index.js';

/** The shared test data, which Rust, C and Python read too. */
export const SHARED = new URL('../../../tests/', import.meta.url);
export const LOOPS = {
  version: 1,
  loops: { repeat: { warn: 2, block: 3, halt: 4 } },
  tools: [{ match: 'search', effect: 'read' }],
};
export const CATS = '{"query": "cats"}';
const SCHEMA = { type: 'object', required: ['query'], properties: { query: { type: 'string' } } };

export const readJson = (url) => JSON.parse(readFileSync(url, 'utf8'));

/** A session with one tool, both closed when the test is over. */
export function search(t) {
  const guard = new Guard(LOOPS);
  const session = guard.session();
  t.after(() => guard.close());
  return { guard, session, tool: guard.tool('search', SCHEMA) };
}
