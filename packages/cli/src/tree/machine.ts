/** The machine itself. */

import { define, jsonFlag } from '../define.ts';
import type { DoctorFlags } from '../doctor/doctor.ts';

const SHELLS = ['bash', 'zsh', 'fish'];

export const machineCommands = [
  define<DoctorFlags>({
    name: 'doctor',
    summary: 'check this machine, the database and the server, and say what to do',
    details: 'Each check is ok, warn or fail. Exits with 1 when one fails. It changes nothing.',
    flags: [
      { flags: '--url <url>', what: 'the server to ask (SIGNALBOX_URL, else http://127.0.0.1:4500)' },
      { flags: '--data <folder>', what: 'data folder (SIGNALBOX_DATA)', completes: 'folder' },
      { flags: '--database <url>', what: 'PostgreSQL to look at (DATABASE_URL)' },
      jsonFlag,
    ],
    examples: [
      ['signalbox doctor', 'before asking anybody for help'],
      [
        'signalbox doctor --database postgresql://signalbox@db.internal/signalbox',
        'a database of yours, before the first start',
      ],
    ],
    run: async (_, flags) => (await import('../doctor/doctor.ts')).doctor(flags),
  }),
  define<object>({
    name: 'completion',
    summary: 'print the completion script of a shell',
    details: 'Completes commands, flags, their values, and the names of dags when a server answers at once.',
    arguments: [{ name: 'shell', what: SHELLS.join(', '), completes: SHELLS }],
    flags: [],
    examples: [
      ['source <(signalbox completion bash)', 'in ~/.bashrc'],
      ['source <(signalbox completion zsh)', 'in ~/.zshrc, after compinit'],
      ['signalbox completion fish > ~/.config/fish/completions/signalbox.fish', 'once'],
    ],
    run: async ([shell = '']) => (await import('../completion/completion.ts')).completion(shell),
  }),
];
