/** A JSON object, such as a part of an OpenAPI document. */
export type Json = Record<string, unknown>

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
/** Returns a value that is an object, else an empty object. */
export const toJson = (value: unknown): Json => (isJson(value) ? value : {})
/** Returns the objects of a list; none if the value is no list. */
export const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isJson) : [])
