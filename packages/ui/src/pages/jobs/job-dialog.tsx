/** Creates a job: what it does, when, and what people find it by. */
import type { CreatedJob } from '@signalbox/protocol';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { post } from '../../api/client.ts';
import { ChoiceField, TextField } from '../../parts/field.tsx';
import { Segmented } from '../../parts/filters.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { viewerZone, Zones } from '../../parts/zones.tsx';
import { type JobForm, NEW_JOB, readJob } from './job-form.ts';

const KINDS = [
  ['run', 'Command'],
  ['http', 'HTTP call'],
  ['task', 'Task of a DAG'],
] as const;
const TIMES = {
  now: 'now',
  delay: 'after a delay',
  at: 'at a time',
  every: 'at an interval',
  cron: 'by cron',
} as const;
const METHODS = { GET: 'GET', POST: 'POST', PUT: 'PUT', PATCH: 'PATCH', DELETE: 'DELETE' } as const;
const PRIORITIES = { '': 'normal', critical: 'critical', high: 'high', low: 'low' } as const;

export function JobDialog({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate();
  const [form, setForm] = useState<JobForm>(() => ({ ...NEW_JOB, zone: viewerZone() }));
  // What is still empty is not called wrong before somebody has written in it.
  const [touched, setTouched] = useState<ReadonlySet<keyof JobForm>>(new Set());
  const set = <Key extends keyof JobForm>(key: Key, value: JobForm[Key]) => {
    setForm((known) => ({ ...known, [key]: value }));
    setTouched((known) => new Set([...known, key]));
  };
  const read = readJob(form);
  const faults = 'faults' in read ? read.faults : {};
  const bind = <Key extends keyof JobForm>(key: Key) => ({
    value: form[key],
    onChange: (value: JobForm[Key]) => set(key, value),
    fault: touched.has(key) ? faults[key] : undefined,
  });
  return (
    <FormDialog<CreatedJob>
      title="New job"
      verb="Create job"
      wide
      isReady={'body' in read}
      onClose={onClose}
      change={{
        run: () => post<CreatedJob>('/v1/jobs', 'body' in read ? read.body : {}),
        done: 'The job is created.',
        touches: ['jobs', 'run-pages', 'runs'],
        onDone: ({ id }) => void navigate({ to: '/jobs/$id', params: { id } }),
      }}
    >
      <Segmented label="What it is" choices={KINDS} value={form.kind} onChange={(kind) => set('kind', kind)} />
      {form.kind === 'run' && (
        <TextField
          label="Command"
          rows={3}
          isMono
          placeholder="psql -c 'vacuum analyze'"
          hint="Runs in a shell on a worker."
          {...bind('run')}
        />
      )}
      {form.kind === 'http' && (
        <>
          <div className="form-grid">
            <ChoiceField label="Method" choices={METHODS} {...bind('method')} />
            <TextField label="Address" placeholder="https://example.com/hook" {...bind('url')} />
          </div>
          <TextField label="Body as JSON" rows={3} isMono {...bind('body')} />
        </>
      )}
      {form.kind === 'task' && (
        <>
          <div className="form-grid">
            <TextField label="DAG" placeholder="nightly-warehouse" {...bind('dag')} />
            <TextField label="Task" placeholder="load" {...bind('task')} />
          </div>
          <TextField
            label="Inputs as JSON"
            rows={3}
            isMono
            placeholder={'{ "day": "2027-01-01" }'}
            hint="In place of the inputs that the task has in its DAG."
            {...bind('inputs')}
          />
        </>
      )}
      <div className="form-grid">
        <ChoiceField label="Runs" choices={TIMES} {...bind('time')} />
        {form.time === 'delay' && <TextField label="Delay" placeholder="10m" {...bind('delay')} />}
        {form.time === 'at' && (
          <TextField label="Time" type="datetime-local" hint="In your time zone." {...bind('at')} />
        )}
        {form.time === 'every' && <TextField label="Every" placeholder="15m" {...bind('every')} />}
        {form.time === 'cron' && (
          <>
            <TextField label="Cron" isMono hint="Minute, hour, day, month, weekday." {...bind('cron')} />
            <TextField label="Zone" list="zones" {...bind('zone')} />
            <Zones />
          </>
        )}
      </div>
      <div className="form-grid">
        <TextField label="Name" placeholder="vacuum the shop" hint="For people." {...bind('name')} />
        <TextField label="Tags" placeholder="shop nightly" {...bind('tags')} />
        <TextField label="Owner" placeholder="team-shop" {...bind('owner')} />
      </div>
      <details className="more-fields">
        <summary>Queue, limits and priority</summary>
        <div className="form-grid">
          <TextField label="Queue" placeholder="default" {...bind('queue')} />
          <TextField label="Timeout" placeholder="5m" {...bind('timeout')} />
          <TextField label="Attempts at most" placeholder="as for tasks" {...bind('attempts')} />
          <ChoiceField
            label="Priority"
            choices={PRIORITIES}
            {...bind('priority')}
            value={form.priority as keyof typeof PRIORITIES}
          />
        </div>
      </details>
    </FormDialog>
  );
}
