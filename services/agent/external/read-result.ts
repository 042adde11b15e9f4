import type { CallToolResult } from '@modelcontextprotocol/client'
import { beginningOf } from '#shared/text/cut.ts'
import type { ToolResult } from '#shared/tools/tool.ts'

/** Of all text of one result, and again of its structure; the loop bounds further what the model reads. */
const mostBytes = 16_384
/** Of the words of a failure, which take the place of a result. */
const mostOfFailure = 500

/** What a tool of somebody else gave, bounded: texts joined, a structure that fits, and of pictures and sounds that there are some. */
export const readResult = (server: string, { content, structuredContent, isError }: CallToolResult): ToolResult => {
  const whole = content.map(textOf).join('\n')
  const text = cutTo(whole, mostBytes)
  const fits = structuredContent !== undefined && Buffer.byteLength(JSON.stringify(structuredContent)) <= mostBytes
  const failed = isError === true
  return {
    isError: failed,
    text: failed ? `${server} says that it failed: ${beginningOf(text, mostOfFailure)}` : `${server} answered`,
    structured: {
      server,
      text,
      ...(fits ? { data: structuredContent } : {}),
      ...(text.length < whole.length || (structuredContent !== undefined && !fits) ? { cut: true } : {}),
    },
  }
}

const textOf = (block: CallToolResult['content'][number]): string => {
  switch (block.type) {
    case 'text':
      return block.text
    case 'resource':
      return 'text' in block.resource ? block.resource.text : '(a file that is no text is left out)'
    case 'resource_link':
      return `(${block.uri})`
    case 'image':
      return '(a picture is left out)'
    case 'audio':
      return '(a sound is left out)'
  }
}

/** The beginning of a text, never half a character of it. */
const cutTo = (text: string, bytes: number): string => {
  const buffer = Buffer.from(text)
  if (buffer.length <= bytes) return text
  return new TextDecoder('utf-8', { fatal: false }).decode(buffer.subarray(0, bytes), { stream: true })
}
