import type { z } from 'zod'
import type { answer } from '#proto/http/answer.ts'

/** What a route answers, and what it takes in its query and its body. */
export interface Route<
  A extends z.ZodType,
  Q extends z.ZodType = z.ZodUndefined,
  B extends z.ZodType = z.ZodUndefined,
> {
  answer: z.output<A>
  query: Query<z.input<Q>, z.output<Q>>
  body: z.input<B>
}

/** An answer of data alone. */
export type DataAnswer<D extends z.ZodType> = ReturnType<typeof answer<D, z.ZodObject<Record<never, never>>>>

type Primitive = string | number | boolean

/** The parameters by name: the text of the address, or the value that the service reads from it. Null is left out. */
type Query<I, O> = [I[keyof I]] extends [never]
  ? undefined
  : string extends keyof I
    ? Named<I, O> | URLSearchParams
    : Named<I, O>

type Named<I, O> = {
  [N in keyof I]: string extends N
    ? unknown
    : I[N] | (N extends keyof O ? Extract<O[N], Primitive> : never) | (undefined extends I[N] ? null : never)
}
