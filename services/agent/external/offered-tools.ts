import type { Tool } from '@modelcontextprotocol/client'
import { cut } from '#shared/text/cut.ts'

/** What a model may be told of a server: more would crowd out the question. */
export const mostTools = 32
const longestDescription = 1_024
const longestTitle = 80
const longestToolName = 128
const mostSchemaBytes = 8_192

/** A tool as a model may be told of it. */
export interface OfferedTool {
  /** As its server calls it. */
  tool: Tool
  title: string
  description: string
}

/** The tools of a server that a model may be told of, and how many are left out. */
export interface OfferedTools {
  tools: readonly OfferedTool[]
  leftOut: number
}

/** Bounds what a server offers: its words are a stranger's. Names that a server gives twice count once. */
export const offeredTools = (listed: readonly Tool[]): OfferedTools => {
  const once = new Map(listed.map((tool) => [tool.name, tool]))
  const fit = [...once.values()].filter(isBounded).slice(0, mostTools)
  const tools = fit.map((tool) => ({
    tool: { ...tool, inputSchema: withoutDialect(tool), outputSchema: undefined },
    title: oneLine(tool.title ?? tool.annotations?.title ?? tool.name, longestTitle),
    description: oneLine(tool.description ?? tool.name, longestDescription),
  }))
  return { tools, leftOut: listed.length - tools.length }
}

/** Some gateways refuse schemas that say which dialect they are written in. */
const withoutDialect = ({ inputSchema: { $schema: _dialect, ...schema } }: Tool): Tool['inputSchema'] => schema

const isBounded = ({ name, inputSchema }: Tool): boolean =>
  name.length <= longestToolName && Buffer.byteLength(JSON.stringify(inputSchema)) <= mostSchemaBytes

/** Without what could pass for a structure of ours: line ends, control and formatting characters. */
const oneLine = (text: string, longest: number): string =>
  cut(text.replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim(), longest)
