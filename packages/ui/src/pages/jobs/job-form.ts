/** A job as the texts of a form, and as the body of the request. What is wrong with a time, the server says. */

export type JobKind = 'run' | 'http' | 'task';
export type JobTime = 'now' | 'delay' | 'at' | 'cron' | 'every';

export interface JobForm {
  readonly kind: JobKind;
  readonly run: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  /** JSON; empty for none. */
  readonly body: string;
  readonly dag: string;
  readonly task: string;
  /** JSON; empty for none. */
  readonly inputs: string;
  readonly time: JobTime;
  readonly delay: string;
  readonly at: string;
  readonly cron: string;
  readonly zone: string;
  readonly every: string;
  readonly name: string;
  /** Separated by blanks or commas. */
  readonly tags: string;
  readonly owner: string;
  readonly queue: string;
  readonly timeout: string;
  readonly attempts: string;
  readonly priority: string;
}

export const NEW_JOB: JobForm = {
  kind: 'run',
  run: '',
  method: 'GET',
  url: '',
  body: '',
  dag: '',
  task: '',
  inputs: '',
  time: 'now',
  delay: '10m',
  at: '',
  cron: '0 6 * * *',
  zone: 'UTC',
  every: '15m',
  name: '',
  tags: '',
  owner: '',
  queue: '',
  timeout: '',
  attempts: '',
  priority: '',
};

export type JobFaults = Readonly<Partial<Record<keyof JobForm, string>>>;
export type ReadJob = { readonly body: Readonly<Record<string, unknown>> } | { readonly faults: JobFaults };

export function readJob(form: JobForm): ReadJob {
  const faults: Partial<Record<keyof JobForm, string>> = {};
  const text = (name: keyof JobForm) => form[name].trim();
  const given = (name: keyof JobForm) => (text(name) === '' ? {} : { [name]: text(name) });
  const must = (name: keyof JobForm) => {
    if (text(name) === '') faults[name] = 'is required';
    return { [name]: text(name) };
  };
  const json = (name: 'body' | 'inputs'): unknown => {
    if (text(name) === '') return undefined;
    try {
      return JSON.parse(form[name]) as unknown;
    } catch (error) {
      faults[name] = error instanceof Error ? error.message : 'is not JSON';
      return undefined;
    }
  };
  const work = {
    run: () => must('run'),
    http: () => {
      const body = json('body');
      return { http: { method: form.method, ...must('url'), ...(body === undefined ? {} : { body }) } };
    },
    task: () => {
      const inputs = json('inputs');
      return { task: { ...must('dag'), ...must('task') }, ...(inputs === undefined ? {} : { inputs }) };
    },
  }[form.kind]();
  const time = {
    now: () => ({}),
    delay: () => must('delay'),
    at: () => ({ at: instantOf(text('at'), () => (faults.at = 'must be a time')) }),
    cron: () => ({ ...must('cron'), ...given('zone') }),
    every: () => must('every'),
  }[form.time]();
  const attempts = text('attempts');
  if (attempts !== '' && !/^[1-9]\d{0,3}$/.test(attempts)) faults.attempts = 'must be a whole number';
  const tags = form.tags.split(/[\s,]+/).filter((tag) => tag !== '');
  const labels = { ...given('name'), ...(tags.length === 0 ? {} : { tags }), ...given('owner') };
  const limits = {
    ...given('queue'),
    ...given('timeout'),
    ...(attempts === '' ? {} : { retries: { maxAttempts: Number(attempts) } }),
    ...given('priority'),
  };
  return Object.keys(faults).length > 0 ? { faults } : { body: { ...work, ...time, ...labels, ...limits } };
}

/** The field of the browser has no zone: it is a time of the viewer. */
function instantOf(text: string, fail: () => void): string {
  const at = Date.parse(text);
  if (Number.isNaN(at)) fail();
  return Number.isNaN(at) ? '' : new Date(at).toISOString();
}
