/**
 * microloop: decides before every tool call of an agent whether it may run, and watches what came back.
 *
 * A thin layer over the C ABI of libmicroloop; it holds no decisions of its own. Calls return at once and never wait.
 */
export { Guard } from './guard.js';
export { MicroloopError } from './native.js';
export { Session } from './session.js';
export { Verdict } from './verdict.js';
