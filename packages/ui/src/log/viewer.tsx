/** A log to read: live, searchable, and as long as it likes, because only the lines in sight are in the page. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { useSearchState } from '../api/search-state.ts';
import { count, plural } from '../parts/format.ts';
import { Icon } from '../shell/icons.tsx';
import { type Piece, plainOf, readAnsi } from './ansi.ts';
import { findFrom, type Line, looksBad, wordsOf } from './lines.ts';
import { useFolding } from './use-folding.ts';
import { useLog } from './use-log.ts';
import { useScan } from './use-scan.ts';
import './log.css';

interface ViewerProps {
  readonly path: string;
  /** Where the whole text can be had. */
  readonly download?: string | undefined;
  readonly withTask?: boolean;
  /** Shown in place of an empty log. */
  readonly empty: ReactNode;
}

const ROW = 19;
/** Above and below the lines, and a scroll bar. */
const LINES_PADDING = 28;

export function LogViewer({ path, download, withTask = false, empty }: ViewerProps) {
  const log = useLog(path);
  const { lines, version } = log;
  const scroller = useRef<HTMLDivElement>(null);
  const [isFollowing, setFollowing] = useState(true);
  const [{ find: query = '', fold, wrap }, change] = useSearchState();
  const isWrapped = wrap === 'on';
  const isFolded = fold === 'on';
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const folding = useFolding(lines, version, isFolded, open);
  const rowCount = folding?.shown.length ?? lines.length;
  const [marked, setMarked] = useState<number | null>(null);
  const rows = useVirtualizer({
    count: rowCount,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 30,
  });

  useEffect(() => {
    if (isFollowing && rowCount > 0 && version > 0) rows.scrollToIndex(rowCount - 1, { align: 'end' });
  }, [version, isFollowing, rowCount, rows]);

  const wanted = query.toLowerCase();
  const matches = useMemo(
    () => (wanted === '' ? null : (line: Line) => plainOf(wordsOf(line).text).toLowerCase().includes(wanted)),
    [wanted],
  );
  const found = useScan(lines, version, matches);
  const goTo = (at: number | null) => {
    if (at === null) return;
    setFollowing(false);
    setMarked(at);
    rows.scrollToIndex(folding?.rowOf(at) ?? at, { align: 'center' });
  };
  const next = (step: 1 | -1) =>
    matches !== null && goTo(findFrom(lines, (marked ?? (step === 1 ? -1 : 0)) + step, step, matches));
  const firstError = useScan(lines, version, looksBad)?.first ?? null;

  return (
    <section className="card log">
      <div className="card-head">
        <input
          type="search"
          className="search"
          placeholder="Search the log  /"
          aria-label="Search the log"
          value={query}
          onChange={(event) => change({ find: event.target.value })}
          onKeyDown={(event) => event.key === 'Enter' && next(event.shiftKey ? -1 : 1)}
        />
        {found !== null && (
          <>
            <span className="small faint nowrap">
              {plural(found.count, 'line')}
              {found.isDone ? '' : ' so far'}
            </span>
            <button type="button" className="button small icon" aria-label="Previous match" onClick={() => next(-1)}>
              ↑
            </button>
            <button type="button" className="button small icon" aria-label="Next match" onClick={() => next(1)}>
              ↓
            </button>
          </>
        )}
        <span className="grow" />
        {firstError !== null && (
          <button type="button" className="button small" onClick={() => goTo(firstError)}>
            First error
          </button>
        )}
        <button
          type="button"
          className="button small"
          aria-pressed={isFolded}
          title="Hides stack traces and indented lines behind the line that they belong to"
          onClick={() => change({ fold: isFolded ? undefined : 'on' })}
        >
          {isFolded ? 'Unfold' : 'Fold'}
        </button>
        <button
          type="button"
          className="button small"
          aria-pressed={isWrapped}
          onClick={() => change({ wrap: isWrapped ? undefined : 'on' })}
        >
          {isWrapped ? 'One line each' : 'Wrap'}
        </button>
        {!log.isOver && (
          <button
            type="button"
            className="button small"
            aria-pressed={isFollowing}
            onClick={() => setFollowing(!isFollowing)}
          >
            {isFollowing ? 'Following' : 'Follow'}
          </button>
        )}
        {download !== undefined && (
          <a className="button small" href={download} download>
            <Icon name="download" size={13} /> Download
          </a>
        )}
      </div>
      {log.missing.length > 0 && (
        <div className="notice warn">Lines may be missing: {log.missing.join(', ')} did not answer.</div>
      )}
      {log.isCut && (
        <div className="notice warn">
          Only the first {count(lines.length)} lines are shown. Download the log for the rest.
        </div>
      )}
      {lines.length === 0 ? (
        <div className="empty">
          {log.isOver ? empty : log.isConnected ? 'Nothing has been written yet.' : 'Loading …'}
        </div>
      ) : (
        <div
          ref={scroller}
          className={isWrapped ? 'log-lines wrapped' : 'log-lines'}
          style={{ height: rows.getTotalSize() + LINES_PADDING }}
          role="log"
          aria-label="Lines of the log"
          tabIndex={0}
          onWheel={(event) => event.deltaY < 0 && setFollowing(false)}
        >
          <div style={{ height: rows.getTotalSize(), position: 'relative' }}>
            {rows.getVirtualItems().map(({ index: row, start }) => {
              const index = folding?.shown[row] ?? row;
              const hidden = folding?.sizes.get(index);
              return (
                <div
                  key={index}
                  ref={isWrapped ? rows.measureElement : undefined}
                  data-index={row}
                  className={index === marked ? 'log-line marked' : 'log-line'}
                  style={{ transform: `translateY(${start}px)` }}
                >
                  <LineView line={lines[index] as Line} wanted={wanted} withTask={withTask} />
                  {hidden !== undefined && (
                    <button
                      type="button"
                      className="log-fold"
                      aria-expanded={open.has(index)}
                      onClick={() => setOpen(toggled(open, index))}
                    >
                      {open.has(index) ? 'hide' : `${count(hidden)} more`}
                    </button>
                  )}
                </div>
              );
            })}
          </div>
        </div>
      )}
      <div className="card-foot small faint row">
        {plural(lines.length, 'line')}
        {log.isOver ? ', complete' : log.isConnected ? ', live' : ', connecting …'}
      </div>
    </section>
  );
}

function toggled(open: ReadonlySet<number>, index: number): ReadonlySet<number> {
  const next = new Set(open);
  if (!next.delete(index)) next.add(index);
  return next;
}

function LineView({
  line,
  wanted,
  withTask,
}: {
  readonly line: Line;
  readonly wanted: string;
  readonly withTask: boolean;
}) {
  const { level, text } = wordsOf(line);
  return (
    <>
      <span className={withTask ? 'log-no time' : 'log-no'}>{withTask ? line.at.slice(11, 23) : line.no + 1}</span>
      {withTask && (
        <span className="log-task truncate" title={line.task}>
          {line.task}
        </span>
      )}
      {level !== null && <span className={`log-level ${level}`}>{level}</span>}
      <span className={`log-text ${line.stream}`} title={line.at}>
        {readAnsi(text).map((piece, at) => (
          // Pieces of a line never move.
          <PieceView key={`${at} ${piece.text.length}`} piece={piece} wanted={wanted} />
        ))}
      </span>
    </>
  );
}

const classOf = (prefix: string, colour: number | string | null): string =>
  typeof colour === 'number' ? ` ${prefix}-${colour}` : '';

function PieceView({ piece, wanted }: { readonly piece: Piece; readonly wanted: string }) {
  const { text, colour, background, isBold, isDim } = piece;
  const isPlain = colour === null && background === null && !isBold && !isDim;
  const content = wanted === '' ? text : highlight(text, wanted);
  if (isPlain) return <>{content}</>;
  const style = {
    ...(typeof colour === 'string' ? { color: colour } : {}),
    ...(typeof background === 'string' ? { background } : {}),
  };
  const className = `${isBold ? 'bold' : ''}${isDim ? ' dim' : ''}${classOf('fg', colour)}${classOf('bg', background)}`;
  return (
    <span className={className} style={style}>
      {content}
    </span>
  );
}

function highlight(text: string, wanted: string): ReactNode[] {
  const parts: ReactNode[] = [];
  const lower = text.toLowerCase();
  let at = 0;
  for (let hit = lower.indexOf(wanted); hit >= 0; hit = lower.indexOf(wanted, at)) {
    parts.push(text.slice(at, hit), <mark key={hit}>{text.slice(hit, hit + wanted.length)}</mark>);
    at = hit + wanted.length;
  }
  parts.push(text.slice(at));
  return parts;
}
