import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compileFolder } from '../compile.ts';
import { makeFolder, writeInto } from '../folder.testing.ts';

const holidays = (day: string) =>
  `BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART;VALUE=DATE:${day}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n`;
const dagOf = (ical: string) =>
  `name: d\nschedule:\n  cron: "@daily"\n  calendar:\n    ical: ${ical}\ntasks:\n  - { name: a, run: x }\n`;
const module = `import { dag } from '@signalbox/sdk';
  const schedule = { cron: '@daily', calendar: { ical: 'holidays.ics' } };
  export default dag('m', { schedule }, ({ task }) => void task('t', () => 1));`;

test('a calendar file beside a dag is deployed as its text, from YAML and from code', async () => {
  const folder = await makeFolder({
    'd.yaml': dagOf('holidays.ics'),
    'm.ts': module,
    'holidays.ics': holidays('20271225'),
  });
  const { dags, problems } = await compileFolder({ folder });
  expect(problems).toEqual([]);
  expect(dags.map(({ definition }) => definition.schedule?.calendar?.ical)).toEqual([
    holidays('20271225'),
    holidays('20271225'),
  ]);
  await writeInto(folder, 'holidays.ics', holidays('20271226'));
  const again = await compileFolder({ folder });
  expect(again.dags[0]?.definition.schedule?.calendar?.ical).toBe(holidays('20271226'));
});

test.each([
  ['nowhere.ics', 'the file "nowhere.ics" does not exist'],
  ['../outside.ics', 'is outside of the folder of the dag'],
  ['text.ics', 'does not begin with BEGIN:VCALENDAR'],
  ['broken.ics', 'line 3: DTSTART has "20271399", which is not a date'],
])('%s is refused at its place', async (name, message) => {
  const folder = await makeFolder({
    'dags/d.yaml': dagOf(name),
    'dags/text.ics': 'hello',
    'dags/broken.ics': holidays('20271399'),
    'outside.ics': holidays('20271225'),
  });
  const { problems } = await compileFolder({ folder: join(folder, 'dags') });
  expect(problems).toMatchObject([{ line: 5, message: expect.stringContaining(message) }]);
});
