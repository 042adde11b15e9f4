import type { Environment } from '#shared/config/environment.ts'
import { flag, read } from '#shared/config/setting.ts'

/** The marks by which the edge platform says that it runs this process. */
export const edgeSettings = {
  EDGE_WORKERS: flag(false, 'Set by the edge platform: runs as a worker.'),
  EDGE_PAGES: flag(false, 'Set by the edge platform: runs as pages.'),
  EDGE_LOCAL_EMULATOR: flag(false, 'Set by the emulator of the edge platform.'),
} as const

/** Whether the edge platform runs this process. */
export const isOnEdge = (env: Environment): boolean => {
  const { EDGE_WORKERS, EDGE_PAGES, EDGE_LOCAL_EMULATOR } = read(edgeSettings, env)
  return EDGE_WORKERS || EDGE_PAGES || EDGE_LOCAL_EMULATOR
}
