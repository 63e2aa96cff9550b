/** Jobs: work without a dag of its own, to run now, later or again and again. */
import type { JobView } from '@signalbox/protocol';
import { JOB_STATES } from '@signalbox/protocol/words';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { OpenButton } from '../../actions/change.tsx';
import { jobPagesQuery } from '../../api/queries.ts';
import { useSearchState } from '../../api/search-state.ts';
import { ChoiceFilter, ShowFilter, TextFilter, useShown } from '../../parts/filters.tsx';
import { actorName } from '../../parts/format.ts';
import { Ago } from '../../parts/now.tsx';
import { Card, Empty, Page } from '../../parts/page.tsx';
import { Paged } from '../../parts/paged.tsx';
import { State } from '../../parts/state.tsx';
import { lookOf } from '../../parts/states.ts';
import { actionsOf, type Column, Table } from '../../parts/table.tsx';
import { Icon } from '../../shell/icons.tsx';
import { JobActions } from './job-actions.tsx';
import { JobDialog } from './job-dialog.tsx';
import { When } from './when.tsx';
import './jobs.css';
import { Command } from '../../parts/json.tsx';

const KINDS = [
  ['all', 'All'],
  ['once', 'Once'],
  ['recurring', 'Recurring'],
] as const;

export function JobsPage() {
  const [{ tag, owner, state }] = useSearchState();
  const kind = useShown('kind', KINDS);
  const pages = useInfiniteQuery(
    jobPagesQuery({
      tag,
      owner,
      state,
      recurring: kind === 'all' ? undefined : String(kind === 'recurring'),
    }),
  );
  const isAll = state === undefined && kind === 'all' && tag === undefined && owner === undefined;
  return (
    <Page
      title="Jobs"
      sub="A job is one command, HTTP call or task without a DAG of its own."
      actions={
        <OpenButton className="button primary" dialog={(onClose) => <JobDialog onClose={onClose} />}>
          New job …
        </OpenButton>
      }
    >
      <div className="toolbar">
        <TextFilter name="tag" label="Only jobs with this tag" placeholder="Tag  /" isShort />
        <TextFilter name="owner" label="Only jobs of this owner" placeholder="Owner" isShort />
        <ShowFilter name="kind" label="Which jobs" choices={KINDS} />
        <ChoiceFilter
          name="state"
          label="State"
          all="Any state"
          choices={JOB_STATES}
          word={(one) => lookOf(one).word}
        />
      </div>
      <Card flush>
        <Paged
          query={pages}
          more="Older jobs"
          empty={
            isAll ? (
              <Empty title="No jobs yet.">
                <span>Create one here, or type</span>
                <Command>{`signalbox jobs create --run 'echo hello' --delay 10m`}</Command>
              </Empty>
            ) : (
              <Empty title="No job matches." />
            )
          }
        >
          {(jobs) => <Table isStacked rows={jobs} keyOf={({ id }) => id} columns={COLUMNS} />}
        </Paged>
      </Card>
    </Page>
  );
}

const COLUMNS: readonly Column<JobView>[] = [
  { head: 'State', cell: ({ state }) => <State state={state} /> },
  {
    head: 'Job',
    look: 'job-cell',
    cell: (job) => (
      <>
        <Link to="/jobs/$id" params={{ id: job.id }} className="name-link job-name truncate" title={job.id}>
          {job.name ?? job.what}
        </Link>
        <div className="job-about small">
          {job.name !== null && (
            <span className="mono faint truncate" title={job.what}>
              {job.what}
            </span>
          )}
          <Labels job={job} />
        </div>
      </>
    ),
  },
  { head: 'When', cell: (job) => <When job={job} /> },
  {
    head: 'Created',
    place: 'hide-narrow',
    look: 'soft nowrap',
    cell: ({ createdAt, createdBy }) => (
      <>
        <Ago at={createdAt} />
        <div className="small faint">by {actorName(createdBy)}</div>
      </>
    ),
  },
  actionsOf((job) => <JobActions job={job} />),
];

/** Each a way to the other jobs that have it. */
export function Labels({ job: { tags, owner, recurring } }: { readonly job: JobView }) {
  return (
    <>
      {recurring && (
        <span className="chip" title="It runs again and again">
          <Icon name="again" size={11} /> recurring
        </span>
      )}
      {tags.map((tag) => (
        <Link key={tag} to="/jobs" search={{ tag } as never} className="chip" title={`All jobs with the tag ${tag}`}>
          {tag}
        </Link>
      ))}
      {owner !== null && (
        <Link to="/jobs" search={{ owner } as never} className="faint nowrap" title={`All jobs of ${owner}`}>
          {owner}
        </Link>
      )}
    </>
  );
}
