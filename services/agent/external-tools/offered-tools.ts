import type { Tool } from '@modelcontextprotocol/client'
import { shortenWithEllipsis } from '#shared/text/strings.ts'

/** Maximum number of tools of one server that the model may use, so that the context has room for the conversation. */
export const maxToolsPerServer = 32
const maxDescriptionLength = 1_024
const maxTitleLength = 80
const maxToolNameLength = 128
const maxSchemaBytes = 8_192

/** A tool with the texts and the schema that the model receives. */
export interface OfferedTool {
  /** The tool as its server lists it. */
  tool: Tool
  title: string
  description: string
}

/** The tools of a server that the model may use, and the number of omitted ones. */
export interface OfferedTools {
  tools: readonly OfferedTool[]
  leftOut: number
}

/** Selects tools from the untrusted list of a server, up to the limits, and truncates their texts. */
export const selectOfferedTools = (listed: readonly Tool[]): OfferedTools => {
  const once = new Map(listed.map((tool) => [tool.name, tool]))
  const fit = [...once.values()].filter(isWithinLimits).slice(0, maxToolsPerServer)
  const tools = fit.map((tool) => ({
    tool: { ...tool, inputSchema: removeSchemaDialect(tool), outputSchema: undefined },
    title: formatOnOneLine(tool.title ?? tool.annotations?.title ?? tool.name, maxTitleLength),
    description: formatOnOneLine(tool.description ?? tool.name, maxDescriptionLength),
  }))
  return { tools, leftOut: listed.length - tools.length }
}

/** Returns the input schema without `$schema`, since some gateways reject it. */
const removeSchemaDialect = ({ inputSchema: { $schema: _dialect, ...schema } }: Tool): Tool['inputSchema'] => schema

const isWithinLimits = ({ name, inputSchema }: Tool): boolean =>
  name.length <= maxToolNameLength && Buffer.byteLength(JSON.stringify(inputSchema)) <= maxSchemaBytes

/** Replaces line breaks, control and format characters with spaces, because they could imitate the prompt structure. */
const formatOnOneLine = (text: string, maxLength: number): string =>
  shortenWithEllipsis(text.replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim(), maxLength)
