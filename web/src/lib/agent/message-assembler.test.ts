import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai'
import { describe, expect, it } from 'vitest'
import { createMessageAssembler } from './message-assembler.ts'
import { createChunkStream } from './chunk-stream.ts'
import type { Message } from './message.ts'

const chunks: UIMessageChunk[] = [
  { type: 'start', messageId: 'm1' },
  { type: 'start-step' },
  { type: 'text-start', id: 't1' },
  { type: 'text-delta', id: 't1', delta: 'I will ' },
  { type: 'text-delta', id: 't1', delta: 'look.' },
  { type: 'text-end', id: 't1' },
  { type: 'tool-input-start', toolCallId: 'c1', toolName: 'query' },
  { type: 'tool-input-delta', toolCallId: 'c1', inputTextDelta: '{"sql":"SELECT 1"}' },
  { type: 'tool-input-available', toolCallId: 'c1', toolName: 'query', input: { sql: 'SELECT 1' } },
  { type: 'tool-output-available', toolCallId: 'c1', output: { rows: [[1]] } },
  { type: 'tool-input-available', toolCallId: 'c2', toolName: 'query', input: {} },
  { type: 'tool-output-error', toolCallId: 'c2', errorText: 'no sql' },
  { type: 'data-plan', id: 'plan', data: { steps: ['a'] } },
  { type: 'data-plan', id: 'plan', data: { steps: ['a', 'b'] } },
  { type: 'data-usage', data: { tokens: 1 } },
  { type: 'data-usage', data: { tokens: 2 } },
  { type: 'finish-step' },
  { type: 'finish' },
]

describe('assemble', () => {
  it('builds the same message as the AI SDK', async () => {
    const message: Message = { id: '', role: 'assistant', parts: [] }
    const add = createMessageAssembler(message)
    for (const chunk of chunks) add(chunk)
    let theirs: UIMessage | undefined
    for await (const next of readUIMessageStream({ stream: createChunkStream(structuredClone(chunks)) })) theirs = next
    expect(message).toMatchObject(JSON.parse(JSON.stringify({ ...theirs, parts: theirs?.parts ?? [] })))
  })

  it('records the duration of a call and an abort', () => {
    const message: Message = { id: '', role: 'assistant', parts: [] }
    let nowMs = 1_000
    const add = createMessageAssembler(message, () => nowMs)
    add({ type: 'tool-input-available', toolCallId: 'c', toolName: 'query', input: {} })
    nowMs += 250
    add({ type: 'tool-output-available', toolCallId: 'c', output: 1 })
    add({ type: 'abort' })
    expect(message).toMatchObject({ metadata: { isStopped: true }, parts: [{ type: 'tool-query', tookMs: 250 }] })
  })

  it('replaces the text of a step with its correction', () => {
    const message: Message = { id: '', role: 'assistant', parts: [] }
    const add = createMessageAssembler(message)
    const step = { type: 'start-step' }
    const text = (id: string) => [
      { type: 'text-start', id },
      { type: 'text-delta', id, delta: id },
      { type: 'text-end', id },
    ]
    const correction = { type: 'data-correction', id: 'correction', data: { untraced: ['9'] } }
    for (const chunk of [step, ...text('look'), step, ...text('wrong'), step, correction, ...text('right')]) add(chunk)
    const texts = message.parts.flatMap((part) => (part.type === 'text' && 'text' in part ? [part.text] : []))
    expect(texts).toEqual(['look', 'right'])
    expect(message.parts).toContainEqual(correction)
  })
})
