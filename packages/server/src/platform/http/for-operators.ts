import type { Endpoint } from '@pixgate/spec'

/**
 * Whether an endpoint is answered at the operator's port and there alone, where there is such a port. How a process fares is
 * answered at every port.
 * @source rules#operators.8
 */
export function isForOperators({ auth, tag }: Endpoint): boolean {
  return auth === 'admin' && tag !== 'Health'
}
