import { checked, native, written } from './native.js';
import { Verdict } from './verdict.js';

const TEXT = 0;
const JSON_TEXT = 1;
const ERROR = 2;
const USER = 0;
const ASSISTANT = 1;
const LATEST = 0;
/** The library counts money in billionths of a dollar. */
const NANO = 1e9;

/**
 * One run of one agent, whose steps no other run ever sees. `guard.session()` makes it.
 *
 * Close it; one that is forgotten is freed when it is collected, or when its worker ends.
 */
export class Session {
  #handle;

  /** @param {object} handle */
  constructor(handle) {
    this.#handle = handle;
  }

  /** The library's number for it. @returns {bigint} */
  get handle() {
    return native.handleNumber(this.#handle);
  }

  /**
   * Says whether a call may run.
   *
   * @param {import('./guard.js').Tool} tool
   * @param {string | object} args - the JSON text, best as the model wrote it, or an object
   * @param {{ callId?: string, batch?: string }} [context] - the framework's id: the same id is the same call; what the
   *   calls of one model turn have in common
   * @returns {Verdict}
   */
  check(tool, args, { callId = '', batch = '' } = {}) {
    const text = typeof args === 'string' ? args : JSON.stringify(args);
    const packed = tool.index === undefined
      ? native.checkNamed(this.#handle, tool.name, text, callId, batch)
      : native.check(this.#handle, tool.index, text, callId, batch);
    return this.#unpack(checked(packed), tool.name);
  }

  /**
   * Takes the result of a call that was let through: a text, or anything that JSON can hold.
   *
   * @param {Verdict} verdict
   * @param {unknown} [result]
   */
  record(verdict, result = null) {
    const isText = typeof result === 'string';
    this.#end(verdict, isText ? TEXT : JSON_TEXT, isText ? result : JSON.stringify(result));
  }

  /**
   * Takes the error of a call that was let through.
   *
   * @param {Verdict} verdict
   * @param {Error | string} error
   */
  recordError(verdict, error) {
    this.#end(verdict, ERROR, String(error));
  }

  /**
   * Says that a call that was let through did not run after all.
   *
   * @param {Verdict} verdict
   */
  cancel(verdict) {
    checked(native.cancel(this.#handle, verdict.step));
  }

  /** Says that a person spoke: counters start anew, unless the policy says otherwise. */
  userTurn() {
    checked(native.turn(this.#handle, USER, ''));
  }

  /**
   * Judges what the model said without calling a tool.
   *
   * @param {string} text
   * @returns {Verdict}
   */
  assistantTurn(text) {
    return this.#unpack(checked(native.turn(this.#handle, ASSISTANT, text)), '');
  }

  /**
   * Says what the model has spent since the last report.
   *
   * @param {{ tokens?: number, usd?: number }} amount
   * @returns {Verdict}
   */
  spend({ tokens = 0, usd = 0 }) {
    return this.#unpack(checked(native.spend(this.#handle, tokens, Math.round(usd * NANO))), '');
  }

  /**
   * Puts the clock where a replay needs it. From now on it stands still between two calls of this.
   *
   * @param {number} milliseconds
   */
  setTime(milliseconds) {
    checked(native.sessionTime(this.#handle, milliseconds));
  }

  /**
   * Says where the session stands.
   *
   * @returns {{ steps: number, epoch: number, halted: string | null, calls: number, tokens: number, usd: number,
   *   refusals: number, role: string | null }}
   */
  state() {
    return JSON.parse(written((buffer) => native.sessionState(this.#handle, buffer)));
  }

  /**
   * Says where the run stands after its latest step: whether it is getting anywhere, and why.
   *
   * @returns {{ step: number, status: 'healthy' | 'warning' | 'stalled' | 'regressing',
   *   intervention: 'observe' | 'replan' | 'stop', verified_progress: boolean,
   *   evidence: { reason: string, steps: number[], why: string }[], feedback: string }}
   */
  progress() {
    return JSON.parse(written((buffer) => native.progress(this.#handle, LATEST, buffer)));
  }

  /** Ends the session and frees what it holds. Every later use throws `MICROLOOP_STALE_HANDLE`. */
  close() {
    checked(native.close(this.#handle));
  }

  [Symbol.dispose]() {
    this.close();
  }

  /** @param {Verdict} verdict @param {number} kind @param {string} outcome */
  #end(verdict, kind, outcome) {
    checked(native.record(this.#handle, verdict.step, kind, outcome));
  }

  /** @param {number} packed @param {string} tool */
  #unpack(packed, tool) {
    const low = packed % 256;
    const step = (packed - low) / 256;
    if (low === 0) return new Verdict({ step, tool });
    return new Verdict(JSON.parse(written((buffer) => native.verdict(this.#handle, step, buffer))));
  }
}
