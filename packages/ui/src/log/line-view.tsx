/** One line of a log: its colours, and what somebody looks for marked in it. */
import { memo, type ReactNode } from 'react';
import { count } from '../parts/format.ts';
import { type Piece, readAnsi } from './ansi.ts';
import { type Line, type Lines, wordsOf } from './lines.ts';

interface LogRowProps extends Omit<LineViewProps, 'line' | 'onMark'> {
  /** One and the same list: a line never changes. */
  readonly lines: Lines;
  readonly index: number;
  /** Its place among the lines that are shown. */
  readonly row: number;
  readonly start: number;
  readonly isMarked: boolean;
  /** How many lines are folded behind it. */
  readonly hidden: number | undefined;
  readonly isOpen: boolean;
  readonly measure: ((row: Element | null) => void) | undefined;
  readonly onMark: (index: number) => void;
  readonly onToggle: (index: number) => void;
}

/** Drawn again only when something of it has changed, not with each line that the log gets. */
export const LogRow = memo(function LogRow(props: LogRowProps) {
  const { lines, index, row, start, isMarked, hidden, isOpen, measure, onMark, onToggle } = props;
  return (
    <div
      ref={measure}
      data-index={row}
      className={isMarked ? 'log-line marked' : 'log-line'}
      style={{ transform: `translateY(${start}px)` }}
    >
      <LineView
        line={lines.at(index) as Line}
        wanted={props.wanted}
        withTask={props.withTask}
        withTime={props.withTime}
        onMark={() => onMark(index)}
      />
      {hidden !== undefined && (
        <button type="button" className="log-fold" aria-expanded={isOpen} onClick={() => onToggle(index)}>
          {isOpen ? 'hide' : `${count(hidden)} more`}
        </button>
      )}
    </div>
  );
});

interface LineViewProps {
  readonly line: Line;
  readonly wanted: string;
  readonly withTask: boolean;
  /** Beside the number, which the log of one task has. */
  readonly withTime: boolean;
  /** The number leads to a link to the line. */
  readonly onMark: () => void;
}

function LineView({ line, wanted, withTask, withTime, onMark }: LineViewProps) {
  const { level, text } = wordsOf(line);
  return (
    <>
      <span
        className={withTask ? 'log-no time' : 'log-no'}
        title="Click to have this line in the address"
        onClick={onMark}
      >
        {withTask ? clockOf(line.at) : line.no + 1}
      </span>
      {withTime && !withTask && <span className="log-clock">{clockOf(line.at)}</span>}
      {withTask && (
        <span className="log-task truncate" title={line.task}>
          {line.task}
        </span>
      )}
      {level !== null && <span className={`log-level ${level}`}>{level}</span>}
      <span className={`log-text ${line.stream}`}>
        {readAnsi(text).map((piece, at) => (
          // Pieces of a line never move.
          <PieceView key={`${at} ${piece.text.length}`} piece={piece} wanted={wanted} />
        ))}
      </span>
    </>
  );
}

const clock = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hour12: false,
});
/** In the viewer's zone. */
const clockOf = (at: number): string => clock.format(at);

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
