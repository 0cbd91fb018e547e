/**
 * What happens to a call, mildest first. An `ask` waits for somebody's answer; `session.cancel` says that it was no.
 *
 * @typedef {'allow' | 'warn' | 'ask' | 'block' | 'halt'} Action
 */

/** What happens to a call, why, and what the model should be told. */
export class Verdict {
  /** The number of the step, from 1. @type {number} */ step = 0;
  /** @type {string} */ tool = '';
  /** @type {Action} */ action = 'allow';
  /** What observe mode withheld. @type {Action | null} */ would = null;
  /** The reason code. @type {string} */ reason = 'none';
  /** What said so in the policy. @type {string} */ rule = '';
  /** @type {number | null} */ limit = null;
  /** What was counted against the limit. @type {number | null} */ seen = null;
  /** The steps that led here. @type {number[]} */ evidence = [];
  /** For the model: beside the result, or in place of it. @type {string} */ feedback = '';

  /** @param {Partial<Verdict>} fields */
  constructor(fields) {
    Object.freeze(Object.assign(this, fields));
  }

  /** Whether the call may run as it stands. An `ask` may not until somebody agrees. */
  get allowed() {
    return this.action === 'allow' || this.action === 'warn';
  }
}
