// Functions that hello.yaml calls. A file without a dag is a library: it is passed over when the folder is deployed.
import type { HandlerContext } from '@signalbox/sdk';

export const greet = ({ params }: HandlerContext<object, { name?: string } | null>) => ({
  greeting: `Hello, ${params?.name ?? 'world'}!`,
});

export const shout = ({ inputs }: HandlerContext<{ greeting: string }>): string => inputs.greeting.toUpperCase();
