import type { adviceMethods } from '#proto/advice.ts'
import type { Handlers, Service } from '#proto/contract.ts'
import { read } from '#shared/config/setting.ts'
import { adviseOn } from './advise-on.ts'
import { askedStatement } from './asked-statement.ts'
import { settings } from '../config.ts'
import type { Parts } from '../parts.ts'

/** After this nothing more is tried out, and what was not is unverified. */
const tryingMs = 20_000
/** The answer has to be on its way before its caller stops listening. */
const marginMs = 1_000

/** Ranked advice for one statement. */
export const advise =
  ({ env, clock, query }: Parts): Handlers<Service<typeof adviceMethods>>['advise'] =>
  async ({ hostKey, ...asked }, call) => {
    const trying = { ...call, deadline: Math.min(call.deadline - marginMs, clock.elapsedMs() + tryingMs) }
    const { SVC_ADVICE_READS_DATA: readsData } = read(settings, env)
    const asking = { query, call, hostKey, trying: readsData ? trying : undefined }
    return adviseOn(asking, await askedStatement(asking, asked))
  }
