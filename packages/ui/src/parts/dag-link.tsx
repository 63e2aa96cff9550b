/** The name of a dag, which leads to it. The hidden dags that servers make for jobs say so instead. */
import { Link } from '@tanstack/react-router';

/** Servers name the dags of jobs so. */
const JOB_DAG = '.job-';
export const isJobDag = (name: string): boolean => name.startsWith(JOB_DAG);
/** For titles and sentences. */
export const dagWord = (name: string): string => (isJobDag(name) ? 'a job' : name);

interface DagLinkProps {
  readonly name: string;
  readonly tab?: string;
  readonly className?: string;
}

export function DagLink({ name, tab, className = 'name-link' }: DagLinkProps) {
  if (isJobDag(name)) {
    return (
      <Link to="/jobs" className={className} title={`The DAG ${name}, which was made for a job`}>
        a job
      </Link>
    );
  }
  return (
    <Link to="/dags/$name" params={{ name }} search={{ tab } as never} className={className} title={name}>
      {name}
    </Link>
  );
}

/** Where a run is: under its dag, or among the jobs. */
export function DagCrumbs({ dag }: { readonly dag: string }) {
  if (isJobDag(dag)) {
    return (
      <>
        <Link to="/jobs">Jobs</Link> /
      </>
    );
  }
  return (
    <>
      <Link to="/dags">DAGs</Link> / <DagLink name={dag} className="" /> /
    </>
  );
}
