/** Creates a schedule, or changes one that was created without a deploy. The next firings are shown while it is written. */
import type { ListedSchedule, SchedulePreview } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Refused, useChange } from '../../actions/change.tsx';
import { post, put, seg } from '../../api/client.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { CheckField, ChoiceField, TextField } from '../../parts/field.tsx';
import { Explained } from '../../parts/toasts.tsx';
import { viewerZone, Zones } from '../../parts/zones.tsx';
import { Firings } from './firings.tsx';
import { formOf, NEW_SCHEDULE, readSchedule, type ScheduleBody, type ScheduleForm } from './schedule-form.ts';

interface ScheduleDialogProps {
  readonly dag: string;
  /** The one to change; none to create another. */
  readonly schedule?: ListedSchedule;
  readonly onClose: () => void;
}

const KINDS = { cron: 'by cron', every: 'at an interval', at: 'at given times' } as const;
const GAPS = { fire_after: 'fires right after the jump', skip: 'is skipped' } as const;
const OVERLAPS = { first: 'the first time', second: 'the second time', both: 'both times' } as const;
const MISSED = { most_recent: 'run once, for the newest', catchup: 'run, each of them', skip: 'are skipped' } as const;
const IF_RUNNING = {
  allow: 'starts anyway',
  skip: 'is skipped',
  queue_one: 'waits; one waits at most',
  queue_all: 'waits, however many do',
  cancel_running: 'starts, and the active runs are cancelled',
} as const;
const UNMET = { skip: 'is cancelled', fail: 'fails', run: 'runs anyway' } as const;
const PRIORITIES = { '': 'as the DAG', critical: 'critical', high: 'high', normal: 'normal', low: 'low' } as const;

/** Fields that are written by hand. */
type TextKey = { [Key in keyof ScheduleForm]: string extends ScheduleForm[Key] ? Key : never }[keyof ScheduleForm];

/** What binds a field to the form. */
interface Bound<T> {
  readonly value: T;
  readonly onChange: (value: T) => void;
  readonly fault?: string | undefined;
}

export function ScheduleDialog({ dag, schedule, onClose }: ScheduleDialogProps) {
  const [name, setName] = useState(schedule?.name ?? '');
  const [form, setForm] = useState<ScheduleForm>(() =>
    schedule === undefined ? { ...NEW_SCHEDULE, zone: viewerZone() } : formOf(schedule),
  );
  const set = (change: Partial<ScheduleForm>) => setForm((known) => ({ ...known, ...change }));
  const read = readSchedule(form);
  const faults: Partial<Record<keyof ScheduleForm, string>> = 'faults' in read ? read.faults : {};
  const choice = <Key extends keyof ScheduleForm>(key: Key): Bound<ScheduleForm[Key]> => ({
    value: form[key],
    onChange: (value) => set({ [key]: value }),
  });
  const text = (key: TextKey) => ({ ...choice(key), fault: faults[key] });
  const path = `/v1/dags/${seg(dag)}/schedules`;
  const save = useChange(
    {
      run: () => {
        const body = 'body' in read ? read.body : {};
        return schedule === undefined
          ? post<ListedSchedule>(path, { name, ...body })
          : put<ListedSchedule>(`${path}/${seg(schedule.name)}`, body);
      },
      done: schedule === undefined ? `The schedule ${name} is created.` : `The schedule ${name} is changed.`,
      touches: ['schedules', 'schedule-pages', 'firings', 'dag', 'dag-chunk'],
      onDone: onClose,
    },
    true,
  );
  return (
    <Dialog
      title={schedule === undefined ? `New schedule of ${dag}` : `Schedule ${schedule.name} of ${dag}`}
      onClose={onClose}
      wide
      foot={
        <>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="button"
            className="button primary"
            disabled={name === '' || 'faults' in read || save.isPending}
            onClick={() => save.mutate()}
          >
            {schedule === undefined ? 'Create schedule' : 'Save'}
          </button>
        </>
      }
    >
      <div className="form-grid">
        {schedule === undefined && (
          <TextField label="Name" value={name} onChange={setName} placeholder="morning" hint="Unique within the DAG." />
        )}
        <ChoiceField label="Fires" choices={KINDS} {...choice('kind')} />
        <Times kind={form.kind} text={text} lines={form.cron.split('\n').length} />
        <TextField label="Zone" hint="Such as Europe/Berlin." list="zones" {...text('zone')} />
      </div>
      <Zones />
      <details className="more-fields">
        <summary>Range, calendar and clock changes</summary>
        <div className="form-grid">
          <TextField label="Not before" placeholder="2027-01-01T00:00:00Z" {...text('start')} />
          <TextField label="Not after" placeholder="2027-12-31T23:59:59Z" {...text('end')} />
          <TextField label="Firings in all" placeholder="no limit" {...text('limit')} />
          <TextField
            label="Jitter"
            placeholder="5m"
            hint="Each firing is late by less than this."
            {...text('jitter')}
          />
          <TextField label="Only on" placeholder="MON TUE WED THU FRI" {...text('weekdays')} />
          <TextField label="Not on these days" placeholder="12-25 2027-04-05/2027-04-09" {...text('exclude')} />
          <TextField label="Only on these days" placeholder="2027-01-15" {...text('only')} />
          <ChoiceField label="A time that a clock change removes" choices={GAPS} {...choice('gap')} />
          <ChoiceField label="A time that comes twice fires" choices={OVERLAPS} {...choice('overlap')} />
        </div>
      </details>
      <details className="more-fields">
        <summary>What it requires of other DAGs</summary>
        <TextField
          label="Must have succeeded before"
          rows={2}
          isMono
          placeholder={'orders within 6h\nrates same window'}
          hint="One DAG a line. Within: a run of it has succeeded in that time. Same window: its run for the same planned time has."
          {...text('requires')}
        />
        <div className="form-grid">
          <TextField label="Waits for them" placeholder="not at all" hint="Such as 2h." {...text('wait')} />
          <TextField label="Or look again every" placeholder="10m" {...text('retryEvery')} />
          <TextField label="How many times" placeholder="6" {...text('retryTimes')} />
          <ChoiceField label="If they have not by then, the run" choices={UNMET} {...choice('unmet')} />
        </div>
      </details>
      <details className="more-fields">
        <summary>What happens to firings, and params of the runs</summary>
        <div className="form-grid">
          <ChoiceField label="While the DAG has active runs, a firing" choices={IF_RUNNING} {...choice('ifRunning')} />
          <ChoiceField label="Firings that were missed" choices={MISSED} {...choice('missed')} />
          <TextField label="Missed ones at most" {...text('missedLimit')} />
          <TextField label="Missed ones not older than" placeholder="6h" {...text('missedMaxAge')} />
          <TextField label="Must start within" placeholder="10m" hint="Else it is skipped." {...text('startWithin')} />
          <ChoiceField
            label="Priority"
            choices={PRIORITIES}
            {...choice('priority')}
            value={form.priority as keyof typeof PRIORITIES}
          />
        </div>
        <TextField
          label="Params as JSON"
          rows={3}
          isMono
          placeholder="Leave empty for the defaults of the DAG"
          {...text('params')}
        />
        {schedule === undefined && (
          <CheckField label="Also run once now" checked={form.runNow} onChange={(runNow) => set({ runNow })} />
        )}
      </details>
      <Preview body={'body' in read ? read.body : null} zone={form.zone} />
      {save.error !== null && <Refused error={save.error} />}
    </Dialog>
  );
}

interface TimesProps {
  readonly kind: ScheduleForm['kind'];
  readonly text: (key: TextKey) => Bound<string>;
  /** Of the cron field. */
  readonly lines: number;
}

function Times({ kind, text, lines }: TimesProps) {
  switch (kind) {
    case 'cron':
      return (
        <TextField
          label="Cron"
          rows={lines}
          isMono
          hint="Minute, hour, day, month, weekday. One expression a line."
          {...text('cron')}
        />
      );
    case 'every':
      return (
        <>
          <TextField label="Every" placeholder="15m" {...text('every')} />
          <TextField label="Counted from" placeholder="2027-01-01T00:00:00Z" {...text('anchor')} />
          <TextField label="Shifted by" placeholder="5m" {...text('phase')} />
        </>
      );
    default:
      return (
        <TextField
          label="Times"
          rows={3}
          isMono
          placeholder="2027-01-01T09:00:00Z"
          hint="One a line. Without an offset it is a time in the zone."
          {...text('at')}
        />
      );
  }
}

const SHOWN = 6;
const REST_MS = 250;

function Preview({ body, zone }: { readonly body: ScheduleBody | null; readonly zone: string }) {
  const wanted = useRested(body === null ? null : JSON.stringify(body));
  const preview = useQuery({
    queryKey: ['schedule-preview', wanted],
    queryFn: () =>
      post<SchedulePreview>('/v1/schedules/preview', { schedule: JSON.parse(wanted ?? '{}'), count: SHOWN }),
    enabled: wanted !== null,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: (known) => known,
  });
  return (
    <section className="card" aria-label="Preview">
      <div className="card-head">
        <h2>Would fire next</h2>
      </div>
      {preview.error !== null ? (
        <div className="card-body tone-bad" role="alert">
          <Explained error={preview.error} />
        </div>
      ) : (
        <Firings
          zone={zone}
          firings={(preview.data?.firings ?? []).map(({ at, firesAt, local, note }) => ({
            firesAt: firesAt ?? at,
            local,
            note,
          }))}
        />
      )}
    </section>
  );
}

/** The value once it has not changed for a moment. */
function useRested<T>(value: T): T {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), REST_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}
