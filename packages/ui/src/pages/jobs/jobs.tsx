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
import { Icon } from '../../shell/icons.tsx';
import { JobActions } from './job-actions.tsx';
import { JobDialog } from './job-dialog.tsx';
import { When } from './when.tsx';
import './jobs.css';

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
                <code>signalbox jobs create --run 'echo hello' --delay 10m</code>
              </Empty>
            ) : (
              <Empty title="No job matches." />
            )
          }
        >
          {(jobs) => <JobTable jobs={jobs} />}
        </Paged>
      </Card>
    </Page>
  );
}

function JobTable({ jobs }: { readonly jobs: readonly JobView[] }) {
  return (
    <div className="scroll-x">
      <table className="list stacked">
        <thead>
          <tr>
            <th>State</th>
            <th>Job</th>
            <th>When</th>
            <th className="hide-narrow">Created</th>
            <th>
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {jobs.map((job) => (
            <tr key={job.id}>
              <td>
                <State state={job.state} />
              </td>
              <td className="job-cell">
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
              </td>
              <td>
                <When job={job} />
              </td>
              <td className="soft nowrap hide-narrow">
                <Ago at={job.createdAt} />
                <div className="small faint">by {actorName(job.createdBy)}</div>
              </td>
              <td>
                <JobActions job={job} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

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
