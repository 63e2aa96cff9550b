import { expect, test } from 'vitest';
import { daysOfIcal } from './days-of-ical.ts';

function calendar(...events: readonly (readonly string[])[]): string {
  const lines = events.flatMap((event) => ['BEGIN:VEVENT', ...event, 'END:VEVENT']);
  return ['BEGIN:VCALENDAR', 'VERSION:2.0', ...lines, 'END:VCALENDAR', ''].join('\r\n');
}

function days(zone: string, ...events: readonly (readonly string[])[]) {
  const read = daysOfIcal(calendar(...events), zone);
  if (!read.ok) throw new Error(`line ${read.line}: ${read.message}`);
  return read.days;
}

test.each([
  ['a day', ['DTSTART;VALUE=DATE:20271225'], [{ from: '2027-12-25' }]],
  [
    'an end that is the first day after it',
    ['DTSTART;VALUE=DATE:20271225', 'DTEND;VALUE=DATE:20271227'],
    [{ from: '2027-12-25', days: 2 }],
  ],
  ['a duration', ['DTSTART;VALUE=DATE:20271225', 'DURATION:P1W'], [{ from: '2027-12-25', days: 7 }]],
  ['an hour', ['DTSTART;TZID=Europe/Berlin:20271225T100000', 'DURATION:PT1H'], [{ from: '2027-12-25' }]],
  [
    'a night: both of its days',
    ['DTSTART:20271225T220000', 'DTEND:20271226T060000'],
    [{ from: '2027-12-25', days: 2 }],
  ],
  ['until midnight', ['DTSTART:20271225T220000', 'DTEND:20271226T000000'], [{ from: '2027-12-25' }]],
  [
    'a rule, with days that are left out',
    [
      'DTSTART;VALUE=DATE:20271125',
      'RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH;COUNT=5',
      'EXDATE;VALUE=DATE:20281123,20291122',
    ],
    [
      {
        from: '2027-11-25',
        repeat: { freq: 'yearly', count: 5, byDay: ['4TH'], byMonth: [11] },
        except: ['2028-11-23', '2029-11-22'],
      },
    ],
  ],
  [
    'a rule with an end',
    ['DTSTART;VALUE=DATE:20270101', 'RRULE:FREQ=MONTHLY;INTERVAL=2;BYMONTHDAY=-1;UNTIL=20281231'],
    [{ from: '2027-01-01', repeat: { freq: 'monthly', interval: 2, until: '2028-12-31', byMonthDay: [-1] } }],
  ],
  ['an event that was cancelled', ['DTSTART;VALUE=DATE:20271225', 'STATUS:CANCELLED'], []],
  ['a folded line', ['DTSTART;VALUE=DA', ' TE:20271225', 'SUMMARY:Ho', '\tliday: the day'], [{ from: '2027-12-25' }]],
])('%s', (_, event, expected) => {
  expect(days('UTC', event)).toEqual(expected);
});

test('a time in UTC counts for the date that it has in the zone of the schedule', () => {
  const event = ['DTSTART:20271224T230000Z', 'DTEND:20271225T230000Z'];
  expect(days('Europe/Berlin', event)).toEqual([{ from: '2027-12-25' }]);
  expect(days('UTC', event)).toEqual([{ from: '2027-12-24', days: 2 }]);
});

test('an event that was moved stands in place of the day of its row', () => {
  const row = ['UID:a', 'DTSTART;VALUE=DATE:20270104', 'RRULE:FREQ=WEEKLY'];
  const moved = ['UID:a', 'RECURRENCE-ID;VALUE=DATE:20270111', 'DTSTART;VALUE=DATE:20270112'];
  expect(days('UTC', row, moved)).toEqual([
    { from: '2027-01-04', repeat: { freq: 'weekly' }, except: ['2027-01-11'] },
    { from: '2027-01-12' },
  ]);
});

test.each([
  [calendar(['SUMMARY:x']), 3, 'no DTSTART'],
  [calendar(['DTSTART:20271301']), 4, 'is not a date'],
  [calendar(['DTSTART:20270230']), 4, 'is not a date'],
  [calendar(['DTSTART:20270101', 'RRULE:FREQ=HOURLY']), 5, 'FREQ=HOURLY'],
  [calendar(['DTSTART:20270101', 'RRULE:FREQ=MONTHLY;BYSETPOS=1;BYDAY=MO']), 5, 'BYSETPOS'],
  [calendar(['DTSTART:20270102', 'DTEND:20270101']), 5, 'ends before it begins'],
  [calendar(['DTSTART:20270102', 'RDATE:20270105']), 5, 'RDATE'],
  [calendar(['DTSTART:20270102']).replace('END:VEVENT\r\n', ''), 5, 'closes nothing'],
  ['BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20270101\n', 1, 'has no end'],
  ['BEGIN:VCALENDAR\nhello\nEND:VCALENDAR', 2, 'is not a line of iCal'],
])('%j is refused at line %i', (text, line, message) => {
  expect(daysOfIcal(text, 'UTC')).toMatchObject({ ok: false, line, message: expect.stringContaining(message) });
});
