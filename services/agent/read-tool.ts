import { z } from 'zod'
import { type Feature, requireFeature } from '#proto/call.ts'
import type { Host } from '#proto/host.ts'
import { noSuchHost } from '#shared/text/no-such.ts'
import { HostPosition } from '#shared/tools/tool-parameters.ts'
import type { AgentTool, Asking, ToolAnswer } from './tool.ts'

/** What a tool that reads says of itself. */
export interface ReadTraits<I extends z.ZodObject> extends Pick<AgentTool, 'name' | 'title' | 'description'> {
  /**
   * What its caller must be allowed, so that a page that is switched off cannot be read through the agent either; null where that hangs
   * on what is asked for, and whoever is asked looks.
   */
  feature: Feature | null
  input: I
  /** Whether the model is told of it at once. */
  core?: boolean
  run(input: z.output<I>, asking: Asking): Promise<ToolAnswer>
}

/** Declares a tool that reads. */
export const readTool = <I extends z.ZodObject>({ feature, core = false, ...traits }: ReadTraits<I>): AgentTool => ({
  ...traits,
  core,
  kind: 'read',
  untrusted: false,
  run: async (given, asking) => {
    requireFeature(asking.call.identity, feature ?? undefined, `the tool ${traits.name}`)
    return traits.run(traits.input.parse(given), asking)
  },
})

/** The parameter of tools that ask one host. */
export const ofHost = { hostId: HostPosition.optional().describe('By default the host of the conversation') }

/** The parameter of tools that set hosts side by side. */
export const ofHosts = {
  hostIds: z.array(HostPosition).min(2).max(16).describe('Positions in the list of hosts'),
}

/** A statement that a model writes. */
export const sql = z.string().min(1).max(100_000).describe('The statement, without FORMAT')

/** How far a tool looks back. */
export const lastHours = (usual: number) => z.int().min(1).max(720).default(usual).describe('How far to look back')

/** The host at a position, or the one that the conversation is about; throws `not-found` naming those that there are. */
export const hostAt = async ({ hostKey, hosts }: Asking, hostId: number | undefined): Promise<AskedHost> => {
  const listed = await hosts()
  const found = listed.find(({ id, key }) => (hostId === undefined ? key === hostKey : id === hostId))
  if (found) return found
  // A connection of the caller's own is in no list; `query` refuses a key that it does not know.
  if (hostId === undefined) return { key: hostKey, name: 'your connection' }
  throw noSuchHost(hostId, listed)
}

type AskedHost = Pick<Host, 'key' | 'name'>

/** What a tool tells when nothing went wrong. */
export const told = (text: string, structured: Record<string, unknown>): ToolAnswer => ({
  isError: false,
  text,
  structured,
})
