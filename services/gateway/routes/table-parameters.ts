import { ServiceError } from '#proto/errors.ts'

/** Values a page may be given for the parameters that it declares. */
const maxParameters = 20

/** Parameters of the URL that are no part of every table page: values for those that the page declares. */
export const pageParameters = (others: Record<string, string>): Record<string, string> => {
  if (Object.keys(others).length <= maxParameters) return others
  throw new ServiceError('invalid', `more than ${maxParameters} parameters that are no part of every table page`)
}
