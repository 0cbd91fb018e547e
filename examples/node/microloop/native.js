/** The library itself, and what its statuses mean. */
import { createRequire } from 'node:module';

/** @type {any} */
export const native = createRequire(import.meta.url)('../build/microloop.node');

const ENOUGH = 2048;
/** The statuses of `microloop.h`, by their negated numbers. */
const STATUSES = [
  'OK', 'NULL_POINTER', 'STALE_HANDLE', 'NOT_UTF8', 'NOT_JSON', 'INVALID_POLICY', 'INVALID_ARGUMENT', 'UNKNOWN_TOOL',
  'UNKNOWN_STEP', 'LIMIT', 'NO_SCHEMA_SUPPORT', 'INVALID_SCHEMA', 'UNSUPPORTED_REGEX', 'ABI_MISMATCH', 'PANIC',
  'INVALID_SNAPSHOT', 'OTHER_POLICY',
];

/**
 * A failure of the library. It is no verdict: a call that it meets was not judged, and the policy's `on_error` says what
 * that means. `code` is the name of the status in `microloop.h`.
 */
export class MicroloopError extends Error {
  /** @param {number} status */
  constructor(status) {
    super(written(native.lastError));
    this.name = 'MicroloopError';
    this.code = `MICROLOOP_${STATUSES[-status]}`;
  }
}

/**
 * Gives back what a function of the library returned, unless that is a status of failure.
 *
 * @template T
 * @param {T} result
 * @returns {T}
 */
export function checked(result) {
  if (typeof result === 'number' && result < 0) throw new MicroloopError(result);
  return result;
}

/**
 * Reads the text that a function of the library writes, with a larger buffer if it says that there is more.
 *
 * @param {(buffer: Buffer) => number} write
 * @returns {string}
 */
export function written(write) {
  let buffer = Buffer.allocUnsafe(ENOUGH);
  let size = checked(write(buffer));
  while (size > buffer.length) {
    buffer = Buffer.allocUnsafe(size);
    size = checked(write(buffer));
  }
  return buffer.toString('utf8', 0, size);
}

checked(native.abiCheck());
