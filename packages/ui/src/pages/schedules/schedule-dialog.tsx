/** Creates a schedule, or changes one that was created without a deploy. The next firings are shown while it is written. */
import type { ListedSchedule, SchedulePreview } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Refused, useChange } from '../../actions/change.tsx';
import { post, put, seg } from '../../api/client.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { CheckField, ChoiceField, TextField } from '../../parts/field.tsx';
import { Explained } from '../../parts/toasts.tsx';
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
const PRIORITIES = { '': 'as the DAG', critical: 'critical', high: 'high', normal: 'normal', low: 'low' } as const;

export function ScheduleDialog({ dag, schedule, onClose }: ScheduleDialogProps) {
  const [name, setName] = useState(schedule?.name ?? '');
  const [form, setForm] = useState<ScheduleForm>(() =>
    schedule === undefined ? { ...NEW_SCHEDULE, zone: viewerZone() } : formOf(schedule),
  );
  const set = (change: Partial<ScheduleForm>) => setForm((known) => ({ ...known, ...change }));
  const read = readSchedule(form);
  const faults: Partial<Record<keyof ScheduleForm, string>> = 'faults' in read ? read.faults : {};
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
        <ChoiceField label="Fires" value={form.kind} choices={KINDS} onChange={(kind) => set({ kind })} />
        <Times form={form} set={set} faults={faults} />
        <TextField
          label="Zone"
          value={form.zone}
          onChange={(zone) => set({ zone })}
          hint="Such as Europe/Berlin."
          list="zones"
        />
      </div>
      <Zones />
      <details className="more-fields">
        <summary>Range, calendar and clock changes</summary>
        <div className="form-grid">
          <TextField
            label="Not before"
            value={form.start}
            onChange={(start) => set({ start })}
            placeholder="2027-01-01T00:00:00Z"
          />
          <TextField
            label="Not after"
            value={form.end}
            onChange={(end) => set({ end })}
            placeholder="2027-12-31T23:59:59Z"
          />
          <TextField
            label="Firings in all"
            value={form.limit}
            onChange={(limit) => set({ limit })}
            fault={faults.limit}
            placeholder="no limit"
          />
          <TextField
            label="Jitter"
            value={form.jitter}
            onChange={(jitter) => set({ jitter })}
            placeholder="5m"
            hint="Each firing is late by less than this."
          />
          <TextField
            label="Only on"
            value={form.weekdays}
            onChange={(weekdays) => set({ weekdays })}
            placeholder="MON TUE WED THU FRI"
          />
          <TextField
            label="Not on these days"
            value={form.exclude}
            onChange={(exclude) => set({ exclude })}
            placeholder="12-25 2027-04-05/2027-04-09"
          />
          <TextField
            label="Only on these days"
            value={form.only}
            onChange={(only) => set({ only })}
            placeholder="2027-01-15"
          />
          <ChoiceField
            label="A time that a clock change removes"
            value={form.gap}
            choices={GAPS}
            onChange={(gap) => set({ gap })}
          />
          <ChoiceField
            label="A time that comes twice fires"
            value={form.overlap}
            choices={OVERLAPS}
            onChange={(overlap) => set({ overlap })}
          />
        </div>
      </details>
      <details className="more-fields">
        <summary>What happens to firings, and params of the runs</summary>
        <div className="form-grid">
          <ChoiceField
            label="While the DAG has active runs, a firing"
            value={form.ifRunning}
            choices={IF_RUNNING}
            onChange={(ifRunning) => set({ ifRunning })}
          />
          <ChoiceField
            label="Firings that were missed"
            value={form.missed}
            choices={MISSED}
            onChange={(missed) => set({ missed })}
          />
          <TextField
            label="Missed ones at most"
            value={form.missedLimit}
            onChange={(missedLimit) => set({ missedLimit })}
            fault={faults.missedLimit}
          />
          <TextField
            label="Missed ones not older than"
            value={form.missedMaxAge}
            onChange={(missedMaxAge) => set({ missedMaxAge })}
            placeholder="6h"
          />
          <TextField
            label="Must start within"
            value={form.startWithin}
            onChange={(startWithin) => set({ startWithin })}
            placeholder="10m"
            hint="Else it is skipped."
          />
          <ChoiceField
            label="Priority"
            value={form.priority as keyof typeof PRIORITIES}
            choices={PRIORITIES}
            onChange={(priority) => set({ priority })}
          />
        </div>
        <TextField
          label="Params as JSON"
          value={form.params}
          onChange={(params) => set({ params })}
          fault={faults.params}
          rows={3}
          isMono
          placeholder="Leave empty for the defaults of the DAG"
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
  readonly form: ScheduleForm;
  readonly set: (change: Partial<ScheduleForm>) => void;
  readonly faults: Partial<Record<keyof ScheduleForm, string>>;
}

function Times({ form, set, faults }: TimesProps) {
  switch (form.kind) {
    case 'cron':
      return (
        <TextField
          label="Cron"
          value={form.cron}
          onChange={(cron) => set({ cron })}
          fault={faults.cron}
          rows={Math.max(1, form.cron.split('\n').length)}
          isMono
          hint="Minute, hour, day, month, weekday. One expression a line."
        />
      );
    case 'every':
      return (
        <>
          <TextField
            label="Every"
            value={form.every}
            onChange={(every) => set({ every })}
            fault={faults.every}
            placeholder="15m"
          />
          <TextField
            label="Counted from"
            value={form.anchor}
            onChange={(anchor) => set({ anchor })}
            placeholder="2027-01-01T00:00:00Z"
          />
          <TextField label="Shifted by" value={form.phase} onChange={(phase) => set({ phase })} placeholder="5m" />
        </>
      );
    default:
      return (
        <TextField
          label="Times"
          value={form.at}
          onChange={(at) => set({ at })}
          fault={faults.at}
          rows={3}
          isMono
          placeholder="2027-01-01T09:00:00Z"
          hint="One a line. Without an offset it is a time in the zone."
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

const viewerZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';

function Zones() {
  const zones = typeof Intl.supportedValuesOf === 'function' ? Intl.supportedValuesOf('timeZone') : [];
  return (
    <datalist id="zones">
      {['UTC', ...zones].map((zone) => (
        <option key={zone} value={zone} />
      ))}
    </datalist>
  );
}
