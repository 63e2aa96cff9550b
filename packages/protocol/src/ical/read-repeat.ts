/** An RRULE of an iCal file. What would be understood wrongly is refused, never left out. */
import type { DayRepeatShape } from './days-of-ical.ts';
import { IcalFault, type IcalLine } from './lines.ts';
import { icalTime, showDay } from './times.ts';

const FREQUENCIES = { DAILY: 'daily', WEEKLY: 'weekly', MONTHLY: 'monthly', YEARLY: 'yearly' } as const;
const KNOWN = ['FREQ', 'INTERVAL', 'COUNT', 'UNTIL', 'BYDAY', 'BYMONTH', 'BYMONTHDAY', 'WKST'];

export function readRepeat(line: IcalLine, zone: string): DayRepeatShape {
  const parts = new Map(
    line.value
      .trim()
      .toUpperCase()
      .split(';')
      .filter((part) => part !== '')
      .map((part) => {
        const equals = part.indexOf('=');
        return [part.slice(0, equals), part.slice(equals + 1)] as const;
      }),
  );
  const unknown = [...parts.keys()].find((name) => !KNOWN.includes(name));
  if (unknown !== undefined) {
    const remedy = `Use ${KNOWN.join(', ')} only, or write the dates one by one.`;
    throw new IcalFault(line.line, `RRULE has ${unknown}, which is not supported`, remedy);
  }
  const freq = FREQUENCIES[parts.get('FREQ') as keyof typeof FREQUENCIES] as DayRepeatShape['freq'] | undefined;
  if (freq === undefined) {
    throw new IcalFault(
      line.line,
      `RRULE has FREQ=${parts.get('FREQ') ?? ''}`,
      'Use DAILY, WEEKLY, MONTHLY or YEARLY.',
    );
  }
  const number = (name: string) => numbersOf(parts.get(name), name, line)?.[0];
  const [interval, count, until] = [number('INTERVAL'), number('COUNT'), parts.get('UNTIL')];
  if (freq === 'weekly' && (interval ?? 1) > 1 && (parts.get('WKST') ?? 'MO') !== 'MO') {
    throw new IcalFault(line.line, 'RRULE has weeks that do not begin on Monday', 'Remove WKST.');
  }
  const [byDay, byMonth] = [parts.get('BYDAY')?.split(','), numbersOf(parts.get('BYMONTH'), 'BYMONTH', line)];
  const byMonthDay = numbersOf(parts.get('BYMONTHDAY'), 'BYMONTHDAY', line);
  return {
    freq,
    ...(interval === undefined ? {} : { interval }),
    ...(count === undefined ? {} : { count }),
    ...(until === undefined ? {} : { until: showDay(icalTime(until, line, zone).wallMs) }),
    ...(byDay === undefined ? {} : { byDay }),
    ...(byMonth === undefined ? {} : { byMonth }),
    ...(byMonthDay === undefined ? {} : { byMonthDay }),
  };
}

function numbersOf(text: string | undefined, name: string, line: IcalLine): number[] | undefined {
  if (text === undefined) return undefined;
  const numbers = text.split(',').map(Number);
  if (numbers.every((number) => Number.isInteger(number)) && text !== '') return numbers;
  throw new IcalFault(line.line, `RRULE has ${name}=${text}`, 'Give whole numbers.');
}
