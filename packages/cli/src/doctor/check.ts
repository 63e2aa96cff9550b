/** The result of a check. Every result that is not ok says what to do. */
export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly message: string;
  readonly remedy?: string;
}

export const ok = (check: string, message: string): Finding => ({ check, status: 'ok', message });
export const warn = (check: string, message: string, remedy: string): Finding => ({
  check,
  status: 'warn',
  message,
  remedy,
});
export const fail = (check: string, message: string, remedy: string): Finding => ({
  check,
  status: 'fail',
  message,
  remedy,
});
