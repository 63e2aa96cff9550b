// Writes docs/reference/dag.schema.json, which editors read, from what the server checks. Run by "npm run schema".
import { writeFileSync } from 'node:fs';
import { dagJsonSchema } from '@signalbox/protocol';

const target = new URL('../docs/reference/dag.schema.json', import.meta.url);
writeFileSync(target, `${JSON.stringify(dagJsonSchema(), null, 2)}\n`);
