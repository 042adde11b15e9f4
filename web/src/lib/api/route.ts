import type { z } from 'zod'
import type { createResponseSchema } from '#proto/http/response.ts'

/** The response, query parameters and request body of a route. */
export interface Route<
  A extends z.ZodType,
  Q extends z.ZodType = z.ZodUndefined,
  B extends z.ZodType = z.ZodUndefined,
> {
  response: z.output<A>
  query: Query<z.input<Q>, z.output<Q>>
  body: z.input<B>
}

/** A response that contains only `data`. */
export type DataResponse<D extends z.ZodType> = ReturnType<
  typeof createResponseSchema<D, z.ZodObject<Record<never, never>>>
>

type Primitive = string | number | boolean

/** Query parameters by name, as text or as parsed values. Parameters that are null are left out. */
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
