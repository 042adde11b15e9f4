import { parseArgs } from 'node:util'
import { z } from 'zod'

/** The start options of a sandbox host. */
export interface HostOptions {
  directory: string
  label: string
  port: number
  seed: boolean
  password: string
}

const Options = z.object({
  directory: z.string().min(1),
  label: z.string().min(1).max(100),
  port: z.coerce.number().int().min(0).max(65_535),
  seed: z.boolean(),
  password: z.string(),
})

/**
 * Parses `--directory`, `--label`, `--port` and `--seed`. The password comes from the environment, because other users
 * can see arguments.
 */
export function parseHostOptions(argv: string[], environment: NodeJS.ProcessEnv): HostOptions {
  const { values } = parseArgs({
    args: argv,
    options: {
      directory: { type: 'string', default: '.watchhouse/sandbox/1' },
      label: { type: 'string', default: 'sandbox-1' },
      port: { type: 'string', default: '0' },
      seed: { type: 'boolean', default: false },
    },
  })
  return Options.parse({ ...values, password: environment['SANDBOX_PASSWORD'] ?? 'watchhouse' })
}
