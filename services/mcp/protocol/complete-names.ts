import { ServiceError } from '#proto/errors.ts'
import { findHost, type ToolContext } from '#shared/tools/tool.ts'
import { HostIdText } from '../call-tool.ts'

/** Values of the other variables or arguments that the client has set. */
export type KnownVariables = Readonly<Record<string, string>>

/** Returns the completions of a typed prefix. */
export type Complete = (prefix: string, completion?: { arguments?: KnownVariables }) => Promise<string[]>

/**
 * Returns a function that completes a typed prefix. It returns no names if the other variables are invalid. The library
 * limits their number and reports the total.
 */
export const completeByPrefix =
  (all: (known: KnownVariables) => Promise<readonly string[]>): Complete =>
  async (prefix, completion) => {
    try {
      return (await all(completion?.arguments ?? {})).filter((name) => name.startsWith(prefix))
    } catch (error) {
      if (error instanceof ServiceError) return []
      throw error
    }
  }

/** Returns the completion of host positions. */
export const createHostIdCompletion = (context: ToolContext): Complete =>
  completeByPrefix(async () => (await context.hosts()).map(({ id }) => String(id)))

/** Returns the completion of databases on the host that `hostOf` selects. */
export const createDatabaseCompletion = (
  context: ToolContext,
  hostOf: (known: KnownVariables) => Promise<string>,
): Complete =>
  completeByPrefix(async (known) => {
    const { rows } = await context.query.exploreDatabases({ hostKey: await hostOf(known) }, context.call)
    return rows.map(({ name }) => name)
  })

/** Returns the key of the host at a position. Throws `invalid` for anything else. */
export const findHostKey = async (context: ToolContext, hostId: string): Promise<string> => {
  const parsed = HostIdText.safeParse(hostId)
  if (!parsed.success) throw new ServiceError('invalid', 'missing or invalid hostId; must be the position of a host')
  return (await findHost(context, Number(parsed.data))).key
}
