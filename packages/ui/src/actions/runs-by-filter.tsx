/** What is done to many runs at once: which ones, how many of them there are, and page after page until all are done. */
import type { RunFilter } from '@signalbox/protocol';
import { PRIORITIES } from '@signalbox/protocol/words';
import { useQuery } from '@tanstack/react-query';
import { post } from '../api/client.ts';
import { dagLabelsQuery } from '../pages/dags/chunks.ts';
import { ChoiceField, TextField } from '../parts/field.tsx';
import { count, plural, shortId } from '../parts/format.ts';
import { StateIcon } from '../parts/state.tsx';

/** Newest first, at most so many at once. */
const MOST_RUNS = 1_000;
const SHOWN = 200;
const PER_PAGE = 100;

/** What such a change reads again. */
export const TOUCHED_BY_MANY = ['runs', 'run-pages', 'columns', 'tasks', 'task', 'grid', 'dag', 'dags', 'queues'];

const STATES = { '': 'Queued and running', queued: 'Only queued', open: 'Only running' } as const;
const ANY_PRIORITY = { '': 'Any', ...Object.fromEntries(PRIORITIES.map((one) => [one, one])) } as Record<
  string,
  string
>;

export interface ManyRunsProps {
  /** Of one DAG; without it, of those with a tag that the dialog asks for. */
  readonly dag: string | undefined;
  /** What the list is narrowed to. */
  readonly state: keyof typeof STATES;
}

/** What the fields of the dialog say. */
interface Chosen {
  readonly tag: string;
  readonly state: keyof typeof STATES;
  readonly priority: string;
  readonly key: string;
  readonly since: string;
}

export const chosenAtFirst = (state: keyof typeof STATES): Chosen => ({
  tag: '',
  state,
  priority: '',
  key: '',
  since: '',
});

export function filterOf(dag: string | undefined, { tag, state, priority, key, since }: Chosen): RunFilter {
  return {
    ...(dag === undefined ? { tag } : { dag }),
    ...(state === '' ? {} : { state }),
    ...(priority === '' ? {} : { priority: priority as (typeof PRIORITIES)[number] }),
    ...(key === '' ? {} : { concurrencyKey: key }),
    ...(since === '' ? {} : { since: new Date(since).toISOString() }),
  };
}

interface FieldsProps {
  readonly dag: string | undefined;
  readonly chosen: Chosen;
  readonly onChange: (chosen: Chosen) => void;
  /** Whether they may be queued or running. */
  readonly hasState?: boolean;
}

export function RunFilterFields({ dag, chosen, onChange, hasState = true }: FieldsProps) {
  const change = (part: Partial<Chosen>) => onChange({ ...chosen, ...part });
  return (
    <>
      {dag === undefined && <TagField tag={chosen.tag} onChange={(tag) => change({ tag })} />}
      <div className="form-grid">
        {hasState && (
          <ChoiceField
            label="Which runs"
            value={chosen.state}
            choices={STATES}
            onChange={(state) => change({ state })}
          />
        )}
        <ChoiceField
          label="Priority"
          value={chosen.priority}
          choices={ANY_PRIORITY}
          onChange={(priority) => change({ priority })}
        />
        <TextField label="Concurrency key" value={chosen.key} onChange={(key) => change({ key })} placeholder="any" />
        <TextField
          label="Created since"
          type="datetime-local"
          value={chosen.since}
          onChange={(since) => change({ since })}
        />
      </div>
    </>
  );
}

function TagField({ tag, onChange }: { readonly tag: string; readonly onChange: (tag: string) => void }) {
  const tags = useQuery(dagLabelsQuery()).data?.tags ?? [];
  return (
    <ChoiceField
      label="Tag"
      value={tag}
      choices={{ '': 'Choose a tag', ...Object.fromEntries(tags.map(({ name }) => [name, name])) }}
      onChange={onChange}
      hint="Runs of all DAGs with this tag. For those of one DAG, narrow the list to it first."
    />
  );
}

interface Found {
  readonly run: string;
  readonly dag: string;
  readonly state: string;
  readonly refused: string | null;
}

interface PreviewProps<T extends Found> {
  readonly found: readonly T[];
  readonly withDag: boolean;
  /** `It cancels`, before how many. */
  readonly deed: string;
  /** At the end of the line of a run. */
  readonly note?: (run: T) => string;
  /** Said when there is none. */
  readonly none?: string;
}

export function RunsPreview<T extends Found>({ found, withDag, deed, note, none = 'No run fits.' }: PreviewProps<T>) {
  if (found.length === 0) return <p className="soft">{none}</p>;
  return (
    <div className="stack tight">
      <strong>
        {found.length < MOST_RUNS
          ? `${deed} ${plural(found.length, 'run')}.`
          : `${deed} the newest ${count(MOST_RUNS)} runs. Do it again for those that are left.`}
      </strong>
      <ul className="preview">
        {found.slice(0, SHOWN).map((one) => (
          <li key={one.run}>
            <StateIcon state={one.state} />
            <span className="mono" title={one.run}>
              {shortId(one.run)}
            </span>
            <span className="grow truncate small faint">{withDag && one.dag}</span>
            {note !== undefined && <span className="small faint nowrap">{note(one)}</span>}
          </li>
        ))}
      </ul>
      {found.length > SHOWN && <p className="faint small">and {plural(found.length - SHOWN, 'more run')}</p>}
    </div>
  );
}

interface PageOf<T> {
  readonly items: readonly T[];
  readonly cursor: string | null;
}

/** The server looks at a page of runs at a time. */
export async function eachPage<T>(path: string, body: object, signal?: AbortSignal): Promise<T[]> {
  const found: T[] = [];
  for (let cursor: string | null = ''; cursor !== null && found.length < MOST_RUNS; ) {
    signal?.throwIfAborted();
    const limit = Math.min(PER_PAGE, MOST_RUNS - found.length);
    const page: PageOf<T> = await post<PageOf<T>>(path, { ...body, limit, ...(cursor === '' ? {} : { cursor }) });
    found.push(...page.items);
    cursor = page.cursor;
  }
  return found;
}

/** `3 runs cancelled. 1 run refused: Run … has ended.`: much can happen between the preview and the deed. */
export function resultText(done: readonly Found[], deed: string): string {
  const refused = done.filter((one) => one.refused !== null);
  const told = refused.length === 0 ? '' : ` ${plural(refused.length, 'run')} refused: ${refused[0]?.refused}`;
  return `${plural(done.length - refused.length, 'run')} ${deed}.${told}`;
}
