import type { z } from 'zod'
import type { Feature } from '#proto/call.ts'
import { sentenceOf } from '#shared/text/sentence-of.ts'
import type { Asking } from './asking.ts'

/** What a tool tells: its facts, and the sentence that says the most of them. */
export interface Told<D> {
  structured: D
  text: string
}

/** One entry of the table of tools; every one of them only reads. */
export interface Tool {
  name: string
  title: string
  description: string
  /** What its caller must be allowed besides the tool server itself. */
  feature: Feature
  input: z.ZodObject
  output: z.ZodObject
  /** Throws `ZodError` for arguments that do not fit, and whatever the owners of the facts throw. */
  run(given: unknown, asking: Asking): Promise<Told<Record<string, unknown>>>
}

interface Traits<I extends z.ZodObject, O extends z.ZodObject> extends Omit<Tool, 'run' | 'input' | 'output'> {
  input: I
  output: O
  run(input: z.output<I>, asking: Asking): Promise<Told<z.output<O>>>
}

/** Declares a tool; the compiler holds what it tells against its schema. */
export const tool = <I extends z.ZodObject, O extends z.ZodObject>(traits: Traits<I, O>): Tool => ({
  ...traits,
  run: async (given, asking) => traits.run(traits.input.parse(given, { error: sentenceOf }), asking),
})
