"""The admission chain: functions that look at an object before it is stored, mend it or refuse it.

The chain is a list that whoever starts the API hands in; `CHAIN` is what Kubernetes itself does to its own kinds.
"""

from baseload.embedded.api.admission.addresses import give_address
from baseload.embedded.api.admission.defaults import give_defaults
from baseload.embedded.api.admission.review import Admission as Admission
from baseload.embedded.api.admission.review import Review as Review

CHAIN: tuple[Admission, ...] = (give_defaults, give_address)
