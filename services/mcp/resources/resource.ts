import type { Feature } from '#proto/call.ts'
import type { Host } from '#proto/host.ts'
import type { ToolContext } from '#shared/tools/tool.ts'

/** A text that is the same for every host. */
export interface Reference {
  name: string
  uri: string
  title: string
  description: string
  text: string
}

/** Facts of a host that have an address each; `path` is what follows the host in it, with names in braces. */
export interface Facts {
  name: string
  path: string
  title: string
  description: string
  feature: Feature
  read(names: Readonly<Record<string, string>>, host: Host, context: ToolContext): Promise<unknown>
}
