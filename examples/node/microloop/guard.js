import { checked, native } from './native.js';
import { Session } from './session.js';

/**
 * A tool that was declared with a guard. It is good for the sessions of that guard. One that nobody declared, what the
 * model asks for and the host does not have, is `{ name }`.
 *
 * @typedef {{ readonly name: string, readonly index?: number }} Tool
 */

/**
 * A policy and the tools that it knows. Close it; one that is forgotten is freed when it is collected.
 *
 *     const guard = new Guard(await readFile('policy.json', 'utf8'));
 */
export class Guard {
  #handle;

  /** @param {string | object} policy - the document as JSON text or as an object, with nothing left to extend */
  constructor(policy) {
    this.#handle = checked(native.policyNew(typeof policy === 'string' ? policy : JSON.stringify(policy)));
  }

  /**
   * Declares a tool.
   *
   * @param {string} name
   * @param {object | boolean} [schema] - the JSON Schema of its arguments
   * @returns {Tool}
   */
  tool(name, schema) {
    const index = checked(native.policyTool(this.#handle, JSON.stringify({ name, schema })));
    return Object.freeze({ name, index });
  }

  /**
   * Begins a session: one run of one agent.
   *
   * @param {{ role?: string, parent?: Session }} [options] - a role of the policy; the session whose budgets the calls of
   *   this one are charged to as well
   * @returns {Session}
   */
  session({ role, parent } = {}) {
    const options = [];
    if (role !== undefined) options.push(`"role": ${JSON.stringify(role)}`);
    // Not by JSON.stringify: a handle has 64 bits, and a number of JavaScript 53.
    if (parent !== undefined) options.push(`"parent": ${parent.handle}`);
    return new Session(checked(native.sessionNew(this.#handle, `{${options}}`)));
  }

  /** Frees the policy. Its sessions live on. */
  close() {
    checked(native.close(this.#handle));
  }

  [Symbol.dispose]() {
    this.close();
  }
}
