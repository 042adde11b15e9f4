import { completable, type McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import type { CreateToolContext } from '../call-tool.ts'
import type { Prompt } from '../prompts/prompts.ts'
import {
  type Complete,
  completeByPrefix,
  createDatabaseCompletion,
  createHostIdCompletion,
  findHostKey,
} from './complete-names.ts'

interface PromptOptions {
  prompts: readonly Prompt[]
  contextFor: CreateToolContext
}

/** Usual lengths of a time range in hours. */
const usualHours = ['1', '6', '12', '24', '48', '168', '720']

/** Registers the prompts for one request. Their arguments are completed from the hosts. */
export const registerPrompts = (server: McpServer, call: CallContext, { prompts, contextFor }: PromptOptions): void => {
  const context = contextFor(call)
  const completions = new Map<string, Complete>([
    ['hostId', createHostIdCompletion(context)],
    ['database', createDatabaseCompletion(context, ({ hostId = '0' }) => findHostKey(context, hostId))],
    ['hours', completeByPrefix(async () => usualHours)],
  ])
  for (const { name, title, description, arguments: given, text } of prompts) {
    const argsSchema = z.object(
      Object.fromEntries(
        Object.entries(given.shape).map(([argument, schema]) => {
          const complete = completions.get(argument)
          return [argument, complete ? withCompletion(schema, complete) : schema]
        }),
      ),
    )
    server.registerPrompt(name, { title, description, argsSchema }, (input) => ({
      messages: [{ role: 'user', content: { type: 'text', text: text(input) } }],
    }))
  }
}

/**
 * Returns a copy of a schema with a completion. The library stores it as a property of the schema, and this one belongs to
 * one request. Of an optional schema, the library reads the property of the inner schema.
 */
const withCompletion = (schema: z.core.$ZodType, complete: Complete): z.core.$ZodType => {
  if (schema instanceof z.ZodOptional) return z.optional(withCompletion(schema.unwrap(), complete))
  if (!(schema instanceof z.ZodType)) return schema
  // The library passes the typed text for every schema.
  return completable(schema.clone(), (prefix, completion) => complete(String(prefix), completion))
}
