import { z } from 'zod'
import type { Call } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Models } from './open.ts'

/** What a model is told, and what it is to do with it. */
export interface Wanted {
  task: string
  text: string
}

const timeoutMs = 30_000
/** Room for models that think before they say a few words. */
const mostTokens = 2_000

const Answer = z.object({ choices: z.array(z.object({ message: z.object({ content: z.string().nullish() }) })) })

/** A few words of the model that answers by default. Throws what `choose` throws, and `unavailable` when nothing came. */
export const askWords = async (models: Pick<Models, 'choose'>, { task, text }: Wanted, call: Call): Promise<string> => {
  const { client, model } = await models.choose(null, call)
  try {
    const answer = await client.chat.completions.create(
      {
        model,
        max_tokens: mostTokens,
        messages: [
          { role: 'system', content: task },
          { role: 'user', content: text },
        ],
      },
      { signal: call.signal, timeout: timeoutMs },
    )
    return Answer.parse(answer).choices[0]?.message.content ?? ''
  } catch (cause) {
    call.signal.throwIfAborted()
    // What a gateway says may name keys and accounts.
    throw new ServiceError('unavailable', 'the language model gave no answer; try again', {
      retryAfterMs: 1_000,
      cause,
    })
  }
}
