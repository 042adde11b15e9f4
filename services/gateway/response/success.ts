/** The body of an answer whose shape the specification leaves open. */
export const success = <D, M>(data: D, metadata: M) => ({ success: true as const, data, metadata })
