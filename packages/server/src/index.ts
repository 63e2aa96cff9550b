export { ConfigError, dataFolder, parseConfig, type ServerConfig } from './config.ts';
export { runServer, untilTold } from './main.ts';
export { type RunningServer, startServer } from './start.ts';
export { collectStartupGarbageSoon } from './startup-garbage.ts';
