import { z } from 'zod'
import { controlToolInputs as parameters } from '#proto/agent.ts'
import { type CallContext, mayUseFeature } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { isCloudMode } from '#shared/config/shared-settings.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { hostParameter } from '#shared/tools/tool-parameters.ts'
import type { Tool } from '#shared/tools/tool.ts'
import { agentSettings } from '../config.ts'

type Parameters = typeof parameters

interface ControlToolDefinition<N extends keyof Parameters> {
  name: N
  title: string
  description: string
  /** Descriptions of the parameters. */
  parameterDescriptions: Readonly<Record<keyof Parameters[N] & string, string>>
}

const defineControlTool = <N extends keyof Parameters>({
  name,
  title,
  description,
  parameterDescriptions,
}: ControlToolDefinition<N>): Tool => ({
  name,
  title,
  description: `${description} A person must approve each call; before the call, explain why it is needed.`,
  input: z.strictObject({ ...hostParameter, ...describeParameters(parameters[name], parameterDescriptions) }),
  feature: null,
  kind: 'control',
  core: false,
  // The gateway runs an approved action as the approving user; the agent never runs it.
  run: async () => {
    throw new ServiceError('forbidden', `${name} requires the approval of a person`)
  },
})

const describeParameters = (
  shape: Readonly<Record<string, z.ZodType>>,
  parameterDescriptions: Readonly<Record<string, string>>,
) =>
  Object.fromEntries(
    Object.entries(shape).map(([name, type]) => [name, type.describe(parameterDescriptions[name] ?? '')]),
  )

const tableDescriptions = { database: 'Database of the table', table: 'The table' }

/** The tools that change a host after a person has approved the call. */
export const controlTools: readonly Tool[] = [
  defineControlTool({
    name: 'kill_query',
    title: 'Kill query',
    description: 'Kills one running query by its query id.',
    parameterDescriptions: { queryId: 'Id of the running query' },
  }),
  defineControlTool({
    name: 'kill_mutation',
    title: 'Kill mutation',
    description: 'Kills one mutation of a table. Parts that it has already rewritten stay rewritten.',
    parameterDescriptions: { ...tableDescriptions, mutationId: 'Mutation id, as in system.mutations' },
  }),
  defineControlTool({
    name: 'optimize_table',
    title: 'Merge parts',
    description: 'Merges the parts of a table or of one partition. This needs free disk space and can take long.',
    parameterDescriptions: {
      ...tableDescriptions,
      partitionId: 'Partition id, as in system.parts; all partitions when omitted',
      final: 'Merge even if all data is already in one part',
      deduplicate: 'Remove duplicate rows',
    },
  }),
]

/**
 * Returns whether the agent may request changes to hosts for this caller. `AGENT_ENABLE_CONTROL_TOOLS` must permit it,
 * and the caller needs the feature `ACTIONS`. An API key also needs the `write` scope. Guests never may, and anonymous
 * callers only outside cloud mode.
 */
export const mayRequestChanges = ({ identity }: CallContext, env: Environment): boolean => {
  const { AGENT_ENABLE_CONTROL_TOOLS: enabled } = parseSettings(agentSettings, env)
  const isCloud = isCloudMode(env)
  if (!(enabled ?? !isCloud)) return false
  if (identity.kind === 'guest' || (identity.kind === 'anonymous' && isCloud)) return false
  const mayWrite = identity.scopes === undefined || identity.scopes.includes('write')
  return mayWrite && mayUseFeature(identity, 'ACTIONS')
}
