"""The admission chain: functions that look at an object before it is stored, mend it or refuse it.

Defaults are filled in before, as a server does when it reads an object: whoever writes a field owns it, and nobody owns
what admission adds.

The chain is handed in by whoever starts the API; `CHAIN` is what Kubernetes itself does to its own kinds, in its order.
"""

from baseload.embedded.api.admission.accounts import give_account
from baseload.embedded.api.admission.addresses import give_address, hold_address
from baseload.embedded.api.admission.claims import give_storage_class, refuse_growth
from baseload.embedded.api.admission.definitions import note_version
from baseload.embedded.api.admission.ingresses import give_ingress_class
from baseload.embedded.api.admission.namespaces import check_namespace
from baseload.embedded.api.admission.nodes import taint_node
from baseload.embedded.api.admission.priorities import give_priority, refuse_second_default
from baseload.embedded.api.admission.protection import protect
from baseload.embedded.api.admission.review import Admission as Admission
from baseload.embedded.api.admission.review import Chain as Chain
from baseload.embedded.api.admission.review import Review as Review
from baseload.embedded.api.admission.runtimes import refuse_overhead, take_from_runtime
from baseload.embedded.api.admission.tolerations import give_tolerations

CHAIN = Chain(
    mend=(
        check_namespace,
        give_account,
        taint_node,
        give_priority,
        give_tolerations,
        give_storage_class,
        protect,
        take_from_runtime,
        give_ingress_class,
        give_address,
        note_version,
    ),
    refuse=(refuse_second_default, refuse_growth, refuse_overhead, hold_address),
)
