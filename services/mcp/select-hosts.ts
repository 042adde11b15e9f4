import type { Host } from '#proto/host.ts'
import { findHost, type ToolContext } from '#shared/tools/tool.ts'

/** Returns the host at a position, or all configured hosts without one. Throws `not-found` with a list of hosts. */
export const selectHosts = async (context: ToolContext, hostId: number | undefined): Promise<readonly Host[]> =>
  hostId === undefined ? context.hosts() : [await findHost(context, hostId)]
